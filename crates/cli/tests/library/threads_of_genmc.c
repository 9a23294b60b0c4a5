// Threads as programs written for GenMC start them; its hazard pointers are not supported, by name.
// ask -p assert: 0 safe
// ask -p assert -DFAILS: 1 x == 1
// ask -p assert -DHAZARD: 3 __VERIFIER_hp_alloc
#include <assert.h>
#include <genmc.h>
#include <stdatomic.h>

static atomic_int x;

static void *add(void *unused) {
    x++;
    return 0;
}

int main(void) {
    __VERIFIER_thread_t one = __VERIFIER_spawn(add, 0);
    __VERIFIER_thread_t two = __VERIFIER_spawn_symmetric(add, 0, one);
    __VERIFIER_join(one);
#ifdef FAILS
    assert(x == 1);
#endif
    __VERIFIER_join_symmetric(two);
    assert(x == 2);
#ifdef HAZARD
    __VERIFIER_hp_alloc();
#endif
}
