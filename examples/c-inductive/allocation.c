/* A loop that makes objects cannot be stood in for, so its invariant is refused. */
#include <assert.h>
#include <stdlib.h>
#include <verifier.h>

int main(void) {
    int n = 0;
    while (__VERIFIER_nondet_bool()) {
        __PARALLAX_invariant(n >= 0);
        free(malloc(4));
        if (n < 10)
            n++;
    }
    assert(n >= 0);
}
