// expect: 1016081
union U { int i; float f; unsigned char b[4]; struct { short lo, hi; } s; } u;
int main(void) { u.f = 1.0f; int a = u.i; u.b[0] = 7; u.s.hi = 2; return (a >> 20) * 1000 + u.i % 1000 + u.s.hi; }
