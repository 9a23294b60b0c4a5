/* Peterson's lock, tried N times by each of two threads; who finds it taken does not wait, and tries once more. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <assert.h>

#ifndef N
#define N 3
#endif

static atomic_int flag[2], turn, inside;

static void attempt(int own) {
    flag[own] = 1;
    turn = 1 - own;
    if (!(flag[1 - own] && turn == 1 - own)) {
        inside = own;
        assert(inside == own);
    }
}

static void *left(void *unused) {
    for (int i = 0; i < N; i++)
        attempt(0);
    return unused;
}

static void *right(void *unused) {
    for (int i = 0; i < N; i++)
        attempt(1);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, left, NULL);
    pthread_create(&second, NULL, right, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
}
