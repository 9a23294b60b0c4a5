/* A loop that never ends: what comes after it holds, because nothing comes after it. */
#include <assert.h>
#include <stdatomic.h>
#include <verifier.h>

static atomic_int x;

int main(void) {
    int n = 0;
    while (n < 10) {
        __PARALLAX_invariant(n == 0);
        atomic_store(&x, n);
    }
    assert(n == 77);
}
