// expect: 156
struct W { long a, b; }; _Atomic struct W w;
int main(void) { struct W v = {3, 4}; w = v; struct W u = w; struct W n = {5, 6}; int ok = __c11_atomic_compare_exchange_strong(&w, &u, n, 5, 5); u = w; return (int)(u.a * 10 + u.b) + ok * 100; }
