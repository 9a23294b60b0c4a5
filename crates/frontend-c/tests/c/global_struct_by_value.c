// expect: 435578
struct P { int x, y; } g = {3, 4}; struct C { char a, b; short s; int i; } h = {1, 2, 3, 4};
int sum(struct P p) { return p.x * 10 + p.y; }
int all(struct C c) { return c.a + c.b * 10 + c.s * 100 + c.i * 1000; }
struct P make(int x) { struct P p = {x, x + 1}; return p; }
int main(void) { int s = sum(g) + all(h); g = make(7); return s * 100 + sum(g); }
