// Something is made once, by an input, and published; whoever looks, as often as it likes, sees all of it
// or nothing.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern unsigned __VERIFIER_nondet_uint(void);

atomic_int ready;
unsigned first, second;

void *maker(void *unused) {
    first = __VERIFIER_nondet_uint();
    second = first + 1;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, maker, 0);
    for (;;) {
        if (atomic_load_explicit(&ready, memory_order_acquire))
            assert(second == first + 1);
    }
}
