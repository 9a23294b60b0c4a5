// expect: 120
int f(long x) { switch (x) { case 1L << 40: return 1; case -1: return 2; } return 0; }
int main(void) { return f(1L << 40) * 100 + f(-1) * 10 + f(3); }
// data model: LP64
