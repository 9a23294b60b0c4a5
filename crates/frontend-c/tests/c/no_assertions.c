// expect: 3
#define NDEBUG
#include <assert.h>
int main(void) { assert(0); return 3; }
