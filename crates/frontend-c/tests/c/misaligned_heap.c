// expect: memory: an access that is not aligned
#include <stdlib.h>
#include <string.h>
volatile int step = 2;
int main(void) { char *p = malloc(16); memset(p, 0, 16); int r = *(int *)(p + step); free(p); return r; }
