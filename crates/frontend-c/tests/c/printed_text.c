// expect: 0
#include <stdio.h>
#include <string.h>
int main(void) {
    char b[64];
    int n = snprintf(b, sizeof b, "%d-%s:%03u%%%c|%-4x|%5ld", -42, "abc", 7u, 'z', 0xfe, -9L);
    if (n != 24 || strcmp(b, "-42-abc:007%z|fe  |   -9")) return 1;
    n = snprintf(b, 4, "%d", 123456);
    if (n != 6 || strcmp(b, "123")) return 2;
    memset(b, 'x', sizeof b);
    if (snprintf(b, 0, "%s", "nothing") != 7 || b[0] != 'x') return 3;
    if (sprintf(b, "%hhu %X %o %.2s %lld %zu", 511, 0xABCu, 8u, "long", -1LL, sizeof(int)) != 18) return 4;
    if (strcmp(b, "255 ABC 10 lo -1 4")) return 5;
    return 0;
}
