// expect: 2522
_Atomic float f = 1.5f; _Atomic double d = 0.25; struct P { int a, b; }; _Atomic struct P p;
int main(void) { f += 1; d *= 8; struct P q = {1, 2}; p = q; struct P r = p; return (int)(f * 10) * 100 + (int)d * 10 + r.b; }
