/* BUG: the reader moves the pointer on before it frees it. Only the start of an object can be
 * freed. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(char *) message;

static void *sender(void *unused) {
    char *text = malloc(2);
    text[0] = 'a';
    text[1] = 0;
    atomic_store(&message, text);
    return NULL;
}

static void *receiver(void *unused) {
    char *text = atomic_exchange(&message, NULL);
    if (!text)
        return NULL;
    while (*text)
        text++;
    free(text);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, sender, NULL);
    pthread_create(&threads[1], NULL, receiver, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    free(atomic_load(&message));
}
