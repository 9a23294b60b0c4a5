// expect: 581340
int x = 5; long y;
int main(void) {
    int r = __sync_fetch_and_add(&x, 2); r = r * 10 + __sync_add_and_fetch(&x, 1); r = r * 10 + __sync_bool_compare_and_swap(&x, 8, 3); r = r * 10 + __sync_val_compare_and_swap(&x, 9, 1);
    __sync_synchronize(); r = r * 10 + __sync_lock_test_and_set(&x, 6); __sync_lock_release(&x); __atomic_store_n(&y, 4, __ATOMIC_RELEASE);
    return r * 10 + x + (int)__atomic_add_fetch(&y, 3, __ATOMIC_RELAXED) + (int)__atomic_fetch_nand(&y, 3, __ATOMIC_SEQ_CST) + (int)__atomic_load_n(&y, __ATOMIC_ACQUIRE);
}
