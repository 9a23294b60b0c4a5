// check: overflow
// expect: 0
int x = 3, n = 4;
unsigned u = ~0u;
long l = 1;
int main(void) { u <<= 31; l = (l << 40) + (x << 29) + (x << n); return u != 1u << 31; }
// data model: LP64
