// check: overflow
// expect: overflow: signed integer overflow in abs
#include <limits.h>
#include <stdlib.h>
int x = INT_MIN;
int main(void) { return abs(x); }
