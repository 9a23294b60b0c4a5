/* N threads write their numbers, and the last one is read when they have ended: N views, of N! orders. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef N
#define N 4
#endif

static atomic_int x;

static void *body(void *number) {
    x = 1 + (int)(long)number;
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, body, (void *)(long)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    int last = x;
    (void)last;
}
