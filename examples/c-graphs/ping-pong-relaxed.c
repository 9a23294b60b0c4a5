// The same as ping-pong.c, but what says whose turn it is does not release what was done before.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern unsigned __VERIFIER_nondet_uint(void);

atomic_int turn;
atomic_uint ball, copy;

void *other(void *unused) {
    for (;;) {
        while (atomic_load_explicit(&turn, memory_order_acquire) != 1)
            ;
        unsigned seen = atomic_load_explicit(&ball, memory_order_relaxed);
        assert(seen == atomic_load_explicit(&copy, memory_order_relaxed));
        atomic_store_explicit(&turn, 0, memory_order_release);
    }
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    for (;;) {
        while (atomic_load_explicit(&turn, memory_order_acquire) != 0)
            ;
        unsigned new = __VERIFIER_nondet_uint();
        atomic_store_explicit(&ball, new, memory_order_relaxed);
        atomic_store_explicit(&copy, new, memory_order_relaxed);
        atomic_store_explicit(&turn, 1, memory_order_relaxed);
    }
}
