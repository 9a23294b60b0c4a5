// expect: 263199
#include <string.h>
char t[32]; struct { int a, b; } x = {1, 2}, y;
int main(void) {
    memset(t, 'x', 31); memcpy(t, "hello", 5); memmove(t + 2, t, 10); memcpy(&y, &x, sizeof x);
    int n = 5; memcpy(t + 20, t, n); memset(t + 26, 0, n - 1);
    return t[0] + t[2] * 3 + t[6] * 5 + t[12] + y.b * 1000 + t[24] + (int)strlen(t) * 10000;
}
