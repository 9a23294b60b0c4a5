// expect: overflow: signed integer overflow
// check: overflow
int big = 2147483647;
int main(void) { return big + 1 < 0; }
