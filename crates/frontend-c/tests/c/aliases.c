// expect: 101
int real(int x) { return x + 1; } int other(int) __attribute__((alias("real"))); int obj = 4; extern int second __attribute__((alias("obj")));
int main(void) { second = 9; int (*f)(int) = other; return other(obj) * 10 + (f == real); }
