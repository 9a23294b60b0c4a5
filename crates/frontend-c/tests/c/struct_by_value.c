// expect: 7443
struct P { int x, y; }; struct B { long a, b, c; }; struct M { double d; int i; }; struct F { float x, y, z; };
struct P p(struct P v) { v.x += 1; v.y *= 2; return v; }
struct B q(struct B v) { v.a += v.c; v.c = 0; return v; }
struct M m(struct M v) { v.d *= 2; v.i--; return v; }
struct F f(struct F v) { v.z = v.x + v.y; return v; }
int main(void) {
    struct P a = {1, 2}, b = p(a); struct B c = {1, 2, 3}, d = q(c); struct M e = m((struct M){1.5, 7});
    struct F g = f((struct F){0.5f, 1.25f, 9});
    return a.x + b.x * 10 + b.y * 100 + (int)(d.a + d.c + c.c) * 1000 + (int)(e.d * 3) + e.i + (int)(g.z * 4);
}
