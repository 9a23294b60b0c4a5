// A lock by compare-and-swap, taken without end by two threads; the sum of two accounts stays the same.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern unsigned __VERIFIER_nondet_uint(void);

atomic_int held;
unsigned here = 100, there;

static void lock(void) {
    int free = 0;
    while (!atomic_compare_exchange_weak(&held, &free, 1))
        free = 0;
}

void *move(void *unused) {
    for (;;) {
        unsigned amount = __VERIFIER_nondet_uint();
        lock();
        if (amount <= here) {
            here -= amount;
            there += amount;
        }
        atomic_store(&held, 0);
    }
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, move, 0);
    for (;;) {
        lock();
        assert(here + there == 100);
        atomic_store(&held, 0);
    }
}
