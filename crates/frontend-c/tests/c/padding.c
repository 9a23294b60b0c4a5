// expect: 106808
#include <stdlib.h>
struct P { char c; int i; } g = {1, 2}; struct Q { short s; char t[5]; long l; } q = {3, "abc", 4}, *pq = &q;
typedef struct { unsigned char a : 3, b : 2; int v[3]; } R; R r = {1, 2, {3, 4, 5}}, *pr = &r, copy;
int p(struct P x) { return x.c * 10 + x.i; }
int all(struct Q x) { return x.s + x.t[2] + (int)x.l; }
R turn(R x) { x.b = 3; x.v[0]++; return x; }
int main(void) {
    struct P l = {5, 6}, *h = malloc(sizeof *h); h->c = 7; h->i = 8; struct P *u = &g;
    copy = *pr; copy = turn(copy); *pr = copy;
    R *m = malloc(sizeof *m); __builtin_memset(m, 1, sizeof *m); m->a = 2;
    return p(g) + p(l) * 3 + p(*h) * 5 + p(*u) * 7 + all(*pq) * 1000 + pr->b + r.v[0] * 10 + r.a * 100 + m->a + m->v[2] % 100;
}
