/* N threads write their numbers, and another one looks twice: N^2 + N + 1 views. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef N
#define N 3
#endif

static atomic_int x;

static void *body(void *number) {
    x = 1 + (int)(long)number;
    return NULL;
}

static void *looks(void *unused) {
    int first = x, second = x;
    (void)first;
    (void)second;
    return unused;
}

int main(void) {
    pthread_t reader, writers[N];
    pthread_create(&reader, NULL, looks, NULL);
    for (int i = 0; i < N; i++)
        pthread_create(&writers[i], NULL, body, (void *)(long)i);
    for (int i = 0; i < N; i++)
        pthread_join(writers[i], NULL);
    pthread_join(reader, NULL);
}
