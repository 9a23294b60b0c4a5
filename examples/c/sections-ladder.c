/* Two threads that climb a ladder by turns: each puts itself one step above the other. In atomic
   sections no step is half done when the other looks, so with N turns each nobody gets above 2 * N. */
#include <assert.h>
#include <pthread.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

#ifndef LIMIT
#define LIMIT (2 * N)
#endif
#define N 3

int left, right;

static void *climb_left(void *unused) {
    for (int turn = 0; turn < N; turn++) {
        __VERIFIER_atomic_begin();
        left = right + 1;
        __VERIFIER_atomic_end();
    }
    return unused;
}

static void *climb_right(void *unused) {
    for (int turn = 0; turn < N; turn++) {
        __VERIFIER_atomic_begin();
        right = left + 1;
        __VERIFIER_atomic_end();
    }
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, 0, climb_left, 0);
    climb_right(0);
    pthread_join(other, 0);
    assert(left <= LIMIT && right <= LIMIT);
    return 0;
}
