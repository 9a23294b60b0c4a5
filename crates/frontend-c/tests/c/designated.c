// expect: 2565
int a[6] = {[4] = 5, 6, [1] = 2}; struct { int x; struct { int u, v; } in[2]; } s = {.in[1].v = 4, .x = 1};
int main(void) { return a[1] * 1000 + a[4] * 100 + a[5] * 10 + s.in[1].v + s.in[0].u + s.x; }
