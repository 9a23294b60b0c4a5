// expect: 0
#include <string.h>
struct pair { long a, b; };
volatile unsigned long n = 4;
int main(void) {
    char b[12] = "abcdefgh";
    struct pair p = {1, 2}, *q = &p;
    *q = p;
    memcpy(b, b + 4, 4);
    memcpy(b, b + 4, n);
    memcpy(b, b, 12);
    memmove(b + 1, b, n);
    return q->b != 2 || memcmp(b, "eefghfgh", 8);
}
