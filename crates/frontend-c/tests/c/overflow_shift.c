// expect: overflow: shift by more than the width
// check: overflow
int by = 32;
int main(void) { return 1 << by; }
