/* Two threads raise their flags, look at each other's, and lower their own, N times each; who sees a flag gives up. Each gives up at one of its N
 * attempts or never: (N + 1)^2 views. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef N
#define N 3
#endif

static atomic_int flag[2];

static void enter(int own) {
    for (int i = 0; i < N; i++) {
        flag[own] = 1;
        if (flag[1 - own])
            break;
        flag[own] = 0;
    }
}

static void *left(void *unused) {
    enter(0);
    return unused;
}

static void *right(void *unused) {
    enter(1);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, left, NULL);
    pthread_create(&second, NULL, right, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
}
