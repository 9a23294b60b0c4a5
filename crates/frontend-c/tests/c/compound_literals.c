// expect: 129
struct P { int x, y; }; int f(const struct P *p, const int *a) { return p->x * 100 + p->y * 10 + a[2]; }
int main(void) { return f(&(struct P){.y = 2, .x = 1}, (int[]){7, 8, 9}); }
