// expect: 28540
int sum(int n) { int a[n]; for (int i = 0; i < n; i++) a[i] = i * i; int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
int main(void) { int t = 0; for (int n = 1; n < 5; n++) { char b[n][3]; b[n - 1][2] = n; t += b[n - 1][2] + (int)sizeof b; } return sum(10) * 100 + t; }
