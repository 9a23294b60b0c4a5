// expect: 0
#include <stdio.h>
int main(void) {
    printf("%f %p\n", 1.0, (void *)0);
    return printf("%d %s\n", 10, "ab") != 6 || fprintf(stderr, "none") != 4;
}
