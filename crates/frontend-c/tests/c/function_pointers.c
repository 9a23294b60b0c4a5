// expect: 72206
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
int (*const table[])(int, int) = {add, sub, mul};
struct op { const char *name; int (*f)(int, int); } ops[] = {{"x", mul}, {"y", sub}};
int apply(int (*f)(int, int), int a, int b) { return f ? f(a, b) : -1; }
int main(void) {
    int s = 0;
    for (int i = 0; i < 3; i++) s = s * 10 + apply(table[i], 4, 3);
    return s * 100 + ops[0].f(2, 3) + apply(0, 1, 1) + (ops[1].f == sub);
}
