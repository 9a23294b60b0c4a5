// expect: 0
#include <genmc.h>
#include <stdlib.h>
int main(void) {
    int *p = malloc(4);
    __VERIFIER_assume(p);
    __VERIFIER_assume(1L << 32);
    __VERIFIER_assume(0.5);
    __VERIFIER_assert(p);
    __VERIFIER_assert(1UL << 63);
    free(p);
    return 0;
}
// data model: LP64
