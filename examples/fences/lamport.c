/* Half of Lamport's fast lock: who finds the gate open goes in, and nobody looks again. Fences do
 * not help: it is wrong in every interleaving of this kind. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int gate, first;
static int counter;

static void *worker(void *argument) {
    int me = (int)(long)argument;
    atomic_store(&first, me);
    if (atomic_load(&gate) == 0) {
        atomic_store(&gate, me);
        counter++;
        atomic_store(&gate, 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}
