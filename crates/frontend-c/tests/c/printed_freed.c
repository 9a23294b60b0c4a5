// expect: wild access of 1 bytes at 0x1000000000
#include <stdio.h>
#include <stdlib.h>
int main(void) { char *p = malloc(4); p[0] = 0; free(p); puts(p); return 0; }
// data model: LP64
