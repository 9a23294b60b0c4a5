// expect: overflow: signed integer overflow
// check: overflow
long big = 1L << 40;
int main(void) { return (int)(big * big); }
