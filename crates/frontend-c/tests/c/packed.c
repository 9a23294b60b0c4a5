// expect: 100019
struct __attribute__((packed)) P { char c; int i; short s; long l; } g = {1, 2, 3, 4};
int main(void) { g.i += 100000; g.l = -1; struct P *p = &g; return p->i + p->s + (int)p->l + (int)sizeof g; }
// data model: LP64
