/* BUG: when the slot is taken already, the new message is dropped without being freed. Leaks are
 * looked for when asked: --property all. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) slot;

static void *sender(void *unused) {
    int *message = malloc(sizeof *message);
    int *empty = NULL;
    *message = 1;
    atomic_compare_exchange_strong(&slot, &empty, message);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, sender, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    free(atomic_load(&slot));
}
