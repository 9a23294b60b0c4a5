// expect: 1
#include <stdio.h>
int main(void) { printf("%d %s %5.2f %%\n", 3, "x", 1.5); return fprintf(stderr, "%ld%c", 5L, 'a') >= 0; }
