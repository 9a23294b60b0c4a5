/* Each of two threads adds to a sum N times, by a compare-and-swap that is tried again with what it has
 * found in place of what it expected. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int sum;

static void *adder(void *argument) {
    int more = (int)(long)argument;
    for (int i = 0; i < N; i++) {
        int expected = atomic_load(&sum);
        while (!atomic_compare_exchange_strong(&sum, &expected, expected + more))
            ;
    }
    return NULL;
}

int main(void) {
    pthread_t left, right;
    pthread_create(&left, NULL, adder, (void *)1);
    pthread_create(&right, NULL, adder, (void *)2);
    pthread_join(left, NULL);
    pthread_join(right, NULL);
    assert(sum == 3 * N);
}
