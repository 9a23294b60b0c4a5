/* Test-and-set spin lock: one flag, taken by whoever finds it clear. A failed try changes
 * nothing, and is no execution of its own. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_flag taken = ATOMIC_FLAG_INIT;
static int counter;

static void *worker(void *unused) {
    while (atomic_flag_test_and_set_explicit(&taken, memory_order_acquire))
        ;
    counter++;
    atomic_flag_clear_explicit(&taken, memory_order_release);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N);
}
