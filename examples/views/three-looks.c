/* All but one of N threads write their numbers, three times each, and another thread looks three times: with M = N - 1 there are
 * 1 + M + M^2 + M^3 views. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef N
#define N 4
#endif

static atomic_int x;

static void *body(void *number) {
    for (int i = 0; i < 3; i++)
        x = 1 + (int)(long)number;
    return NULL;
}

static void *looks(void *unused) {
    for (int i = 0; i < 3; i++) {
        int seen = x;
        (void)seen;
    }
    return unused;
}

int main(void) {
    pthread_t reader, writers[N - 1];
    pthread_create(&reader, NULL, looks, NULL);
    for (int i = 0; i < N - 1; i++)
        pthread_create(&writers[i], NULL, body, (void *)(long)i);
    for (int i = 0; i < N - 1; i++)
        pthread_join(writers[i], NULL);
    pthread_join(reader, NULL);
}
