// expect: 1465
struct in { int v[2]; struct { int k; } n; }; struct out { struct in a[2]; struct in *p; };
struct out o = {{{{1, 2}, {3}}, {{4, 5}, {6}}}, &o.a[1]};
int main(void) { o.p->v[0] += 10; o.a[0].n.k = o.p->n.k; return o.a[1].v[0] * 100 + o.a[0].n.k * 10 + o.p->v[1]; }
