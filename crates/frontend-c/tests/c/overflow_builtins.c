// expect: 25126
int main(void) {
    int a, n = 0; unsigned u; long l; unsigned long ul; signed char c;
    n = n * 2 + __builtin_add_overflow(2147483647, 1, &a); n = n * 2 + __builtin_sub_overflow(-2147483647 - 1, 1, &a);
    n = n * 2 + __builtin_mul_overflow(50000, 50000, &a); n = n * 2 + __builtin_add_overflow(4294967295u, 1u, &u);
    n = n * 2 + __builtin_sub_overflow(1u, 2u, &u); n = n * 2 + __builtin_mul_overflow(1L << 40, 1L << 20, &l);
    n = n * 2 + __builtin_mul_overflow(1UL << 40, 1UL << 30, &ul); n = n * 2 + __builtin_add_overflow(100, 27, &c);
    return n * 100 + (a & 15) + (int)u + (int)l + c;
}
// data model: LP64
