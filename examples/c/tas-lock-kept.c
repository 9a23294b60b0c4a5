/* BUG: a thread that finds nothing to do returns without giving the lock back, and the next one
 * spins for ever. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_flag taken = ATOMIC_FLAG_INIT;
static int tasks = 1;

static void *worker(void *unused) {
    while (atomic_flag_test_and_set_explicit(&taken, memory_order_acquire))
        ;
    if (tasks == 0)
        return NULL;
    tasks--;
    atomic_flag_clear_explicit(&taken, memory_order_release);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
