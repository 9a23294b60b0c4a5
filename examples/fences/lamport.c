/* Half of Lamport's fast lock: who finds the gate open goes in, and nobody looks again. Fences do
 * not help: it is wrong in every interleaving of this kind. Three threads try FIRST, SECOND and THIRD
 * times. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef FIRST
#define FIRST 1
#endif
#ifndef SECOND
#define SECOND 1
#endif
#ifndef THIRD
#define THIRD 0
#endif

static const int rounds[3] = {FIRST, SECOND, THIRD};
static atomic_int gate, first;
static int counter;

static void *worker(void *argument) {
    int me = (int)(long)argument;
    for (int i = 0; i < rounds[me - 1]; i++) {
        atomic_store(&first, me);
        if (atomic_load(&gate) == 0) {
            atomic_store(&gate, me);
            counter++;
            atomic_store(&gate, 0);
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
