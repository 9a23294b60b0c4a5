// expect: assert: abort is called
#include <stdlib.h>
int x = 1;
int main(void) { if (x) abort(); return 0; }
