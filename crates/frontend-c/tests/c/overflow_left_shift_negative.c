// check: overflow
// expect: overflow: signed integer overflow in a shift
int x = -1, n = 1;
int main(void) { x <<= n; return 0; }
