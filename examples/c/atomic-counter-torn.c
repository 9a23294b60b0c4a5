/* BUG: the increment is a load and a store. Each is atomic, both together are not, and an increment
 * may be lost. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int counter;

static void *worker(void *unused) {
    int old = atomic_load(&counter);
    atomic_store(&counter, old + 1);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(atomic_load(&counter) == 2);
}
