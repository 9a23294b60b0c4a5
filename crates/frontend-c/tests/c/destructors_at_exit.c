// expect: assert: assertion failed: 0
#include <assert.h>
#include <stdlib.h>
static int order;
static void handler(void) { assert(order == 0); order = 1; }
__attribute__((destructor)) static void last(void) { assert(order == 1); order = 2; assert(0); }
__attribute__((constructor)) static void first(void) { atexit(handler); }
int main(void) { exit(0); }
