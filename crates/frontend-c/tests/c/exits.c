// expect: 0
#include <stdlib.h>
int r; void f(void) { r = 1; }
int main(void) { atexit(f); return 0; }
