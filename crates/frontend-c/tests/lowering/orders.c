#include <stdatomic.h>

atomic_int x;
_Atomic long y;

int main(void) {
    atomic_store_explicit(&x, 1, memory_order_release);
    atomic_thread_fence(memory_order_acq_rel);
    int seen = atomic_load_explicit(&x, memory_order_acquire);
    atomic_fetch_or_explicit(&y, 6, memory_order_relaxed);
    int expected = 1;
    atomic_compare_exchange_weak_explicit(&x, &expected, 2, memory_order_acq_rel,
                                          memory_order_relaxed);
    y = seen;
    return expected;
}
