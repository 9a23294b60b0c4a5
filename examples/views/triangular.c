/* BUG: two threads add to what the other one has, N times each; in one order of the steps that goes to the end of what they can reach. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <assert.h>

#ifndef N
#define N 5
#endif

static atomic_int i = 3, j = 6;

static void *left(void *unused) {
    for (int k = 0; k < N; k++)
        i = j + 1;
    return unused;
}

static void *right(void *unused) {
    for (int k = 0; k < N; k++)
        j = i + 1;
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, left, NULL);
    pthread_create(&second, NULL, right, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(i < 2 * N + 6 && j < 2 * N + 6);
}
