// expect: 155
struct L { int v[8]; }; struct L make(int n) { struct L l; for (int i = 0; i < 8; i++) l.v[i] = i * n; return l; }
struct E {}; struct E e(struct E x) { return x; } struct D { double a, b; } d(double x) { return (struct D){x, x * 2}; }
int main(void) { struct E x; e(x); return make(3).v[5] * 10 + (int)d(2.5).b; }
