/* Two threads write 1 and 2, N times each; a third one looks twice. What it can see does not depend on N: seven views. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef N
#define N 3
#endif

static atomic_int x;

static void *left(void *unused) {
    for (int i = 0; i < N; i++)
        x = 1;
    return unused;
}

static void *right(void *unused) {
    for (int i = 0; i < N; i++)
        x = 2;
    return unused;
}

static void *looks(void *unused) {
    for (int i = 0; i < 2; i++) {
        int seen = x;
        (void)seen;
    }
    return unused;
}

int main(void) {
    void *(*bodies[3])(void *) = {left, right, looks};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, bodies[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
