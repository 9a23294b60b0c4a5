// check: overflow
// expect: overflow: signed integer overflow in a shift
int x = 3;
int main(void) { return x << 30; }
