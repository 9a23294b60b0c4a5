// expect: 154327
struct S { int a; char name[4]; int b; } s = {1, "ab", 3}; 
#define container(p, t, m) ((t *)((char *)(p) - __builtin_offsetof(t, m)))
int main(void) { int *p = &s.b; int arr[5] = {1, 2, 3, 4, 5}, *e = arr + 5; int n = 0; while (e != arr) n = n * 10 + *--e; return container(p, struct S, b)->a * 100000 + n + e[4] + p[-2]; }
