// expect: 61
volatile int v = 3; volatile struct { char c; long l; } s = {1, 2};
int main(void) { v; v = v + 1; s.l += v; return (int)s.l * 10 + s.c; }
