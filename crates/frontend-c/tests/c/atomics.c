// expect: 5819040
#include <stdatomic.h>
atomic_int x = 5; _Atomic long l; atomic_bool b; _Atomic unsigned char c; _Atomic(int *) p; int cells[4] = {1, 2, 3, 4}; atomic_flag f = ATOMIC_FLAG_INIT;
int main(void) {
    int r = atomic_fetch_add(&x, 3); r = r * 10 + atomic_exchange_explicit(&x, 1, memory_order_acq_rel); x += 4; x--; l |= 12; l ^= 5;
    int e = 4; r = r * 10 + atomic_compare_exchange_strong(&x, &e, 9); e = 0; r = r * 10 + atomic_compare_exchange_strong(&x, &e, 2); r += e;
    atomic_store(&b, 7); c = 255; c++; p = cells; atomic_fetch_add(&p, 2); atomic_thread_fence(memory_order_seq_cst); atomic_signal_fence(memory_order_seq_cst);
    r = r * 10 + atomic_flag_test_and_set(&f); r = r * 10 + atomic_flag_test_and_set(&f); atomic_flag_clear(&f);
    return r * 10 + (int)l + b + c + *p + (int)atomic_fetch_sub(&l, 1) + (int)atomic_fetch_and(&l, 6) + (int)l;
}
