// expect: 0
int main(void) { __VERIFIER_assume(1L << 32); return 0; }
// data model: LP64
