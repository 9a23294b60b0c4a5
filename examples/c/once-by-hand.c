/* BUG: one-time initialisation with a flag that is set before the work is done. Who comes second
 * does not wait for it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_flag begun = ATOMIC_FLAG_INIT;
static atomic_int value;

static void *worker(void *unused) {
    if (!atomic_flag_test_and_set(&begun))
        atomic_store(&value, 42);
    assert(atomic_load(&value) == 42);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}
