// expect: 23
inline int twice(int x) { return 2 * x; } static inline int thrice(int x) { return 3 * x; }
int main(void) { return twice(4) + thrice(5); }
