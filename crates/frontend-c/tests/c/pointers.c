// expect: 9134
int x = 5, *px = &x, **ppx = &px, a[4] = {1, 2, 3, 4}, *mid = &a[2];
int main(void) { **ppx = 9; px = a; (*ppx)[1] += 10; mid--; return x * 1000 + a[1] * 10 + *mid + (mid > a) + (int)(mid - a) + !px; }
