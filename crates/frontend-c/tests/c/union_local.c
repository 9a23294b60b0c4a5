// expect: 64
union U { double d; unsigned long l; char c[8]; };
int main(void) { union U u; u.d = 2.0; unsigned long l = u.l; union U v = u; v.c[7] = 0; return (int)(l >> 56) + (int)(v.l >> 48); }
// data model: LP64
