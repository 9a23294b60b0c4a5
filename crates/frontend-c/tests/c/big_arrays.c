// expect: 16844999
int a[300], b[300]; struct { char c; int v; } s[100], r[100];
int main(void) {
    int local[200] = {1, 2, 3}, copy[200];
    for (int i = 0; i < 200; i++) local[i] += i;
    __builtin_memcpy(copy, local, sizeof copy); __builtin_memcpy(a, local, sizeof local);
    for (int i = 0; i < 100; i++) { s[i].c = i; s[i].v = i * i; }
    __builtin_memcpy(r, s, sizeof r); __builtin_memset(b, 1, sizeof b);
    return copy[150] + a[199] + r[40].v + r[41].c + b[299];
}
