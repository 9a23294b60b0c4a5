// expect: assert: assertion failed: x != 3 && "three"
#include <assert.h>
int x = 3;
int main(void) { assert(x == 3); assert(x != 3 && "three"); return 0; }
