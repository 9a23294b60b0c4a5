// expect: 8
int c = 1; struct { int a, b; } g;
int main(void) { int x; if (c) x = 5; int y; struct { int a, b; } l; l.a = 3; (void)y; g.a = l.a; return c ? x + g.a : 0; }
