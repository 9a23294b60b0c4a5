// Two threads take turns for ever, by acquire and release; what one has left, the other finds.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern unsigned __VERIFIER_nondet_uint(void);

atomic_int turn;
unsigned ball, copy;

void *other(void *unused) {
    for (;;) {
        while (atomic_load_explicit(&turn, memory_order_acquire) != 1)
            ;
        assert(ball == copy);
        atomic_store_explicit(&turn, 0, memory_order_release);
    }
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    for (;;) {
        while (atomic_load_explicit(&turn, memory_order_acquire) != 0)
            ;
        ball = __VERIFIER_nondet_uint();
        copy = ball;
        atomic_store_explicit(&turn, 1, memory_order_release);
    }
}
