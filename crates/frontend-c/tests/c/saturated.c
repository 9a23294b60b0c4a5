// expect: 22347
int main(void) { return __builtin_elementwise_max(3, -5) + __builtin_elementwise_min(7u, 9u) * 10 + __builtin_elementwise_abs(-8) * 100 + __builtin_elementwise_add_sat(2147483647, 5) / 100000 + __builtin_elementwise_sub_sat(3u, 5u); }
