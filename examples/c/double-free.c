/* BUG: both threads find the message and free it, since finding and taking are two steps. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) slot;

static void *receiver(void *unused) {
    int *message = atomic_load(&slot);
    if (message) {
        atomic_store(&slot, NULL);
        free(message);
    }
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
