// expect: 22
// check: overflow
unsigned u = 4294967295u; int i = 2147483647;
int main(void) { return (int)(u + 2) + (i - 2147483640) * 3; }
