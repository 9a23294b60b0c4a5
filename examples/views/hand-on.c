/* N threads in a row: each looks for a token up to LOOKS times, and hands it on to the next one if it comes. If it comes at the k-th look,
 * that is a view of its own: 1 + LOOKS + LOOKS^2 + ... in all. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef N
#define N 3
#endif
#ifndef LOOKS
#define LOOKS 3
#endif

static atomic_int token[N + 1];

static void *body(void *number) {
    int own = (int)(long)number;
    for (int i = 0; i < LOOKS; i++) {
        if (own == 0 || token[own]) {
            token[own + 1] = 1;
            break;
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, body, (void *)(long)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
}
