/* The lock of J. Burns and N. Lynch, tried N times by each of two threads: the second one gives way to the first. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <assert.h>

#ifndef N
#define N 3
#endif

static atomic_int flag[2], inside;

static void *left(void *unused) {
    for (int i = 0; i < N; i++) {
        flag[0] = 1;
        if (!flag[1]) {
            inside = 0;
            assert(inside == 0);
            flag[0] = 0;
        }
    }
    return unused;
}

static void *right(void *unused) {
    for (int i = 0; i < N; i++) {
        flag[1] = 0;
        if (flag[0])
            continue;
        flag[1] = 1;
        if (flag[0])
            continue;
        inside = 1;
        assert(inside == 1);
        flag[1] = 0;
    }
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, left, NULL);
    pthread_create(&second, NULL, right, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
}
