/* Of two threads that look for a message one gets it, by an exchange, and frees it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) slot;

static void *receiver(void *unused) {
    free(atomic_exchange(&slot, NULL));
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    atomic_init(&slot, malloc(sizeof(int)));
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, receiver, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}
