/* BUG: the object is announced before its content is written, so who comes early reads what nobody
 * has written. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(atomic_int *) mailbox;

static void *sender(void *unused) {
    atomic_int *letter = malloc(sizeof *letter);
    atomic_store(&mailbox, letter);
    atomic_store(letter, 1);
    return NULL;
}

static void *receiver(void *unused) {
    atomic_int *letter = atomic_load(&mailbox);
    if (letter && atomic_load(letter) == 1)
        return NULL;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, sender, NULL);
    pthread_create(&threads[1], NULL, receiver, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    free(atomic_load(&mailbox));
}
