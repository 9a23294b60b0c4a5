// Waits as programs written for Nidhugg have them: the conditions are sets of bits, for signed and unsigned.
// ask -p assert: 0 safe
// ask -p assert -DSIGNED: 1 value != -2
// ask -p assert -DLESS: 1 value != 0
// ask -p deadlock -DNEVER: 1 wait
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

int __VERIFIER_load_await_aint(atomic_int *place, int condition, int operand);
int __VERIFIER_xchg_await_aint(atomic_int *place, int new, int condition, int operand);

enum { EQUAL = 2, UNSIGNED_LESS = 4, UNEQUAL = 5, SIGNED_LESS = 12 };

static atomic_int x;

static void *set(void *unused) {
    x = 1;
    x = -2;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
#if defined SIGNED
    int value = __VERIFIER_load_await_aint(&x, SIGNED_LESS, 1);
    assert(value != -2);
#elif defined LESS
    int value = __VERIFIER_xchg_await_aint(&x, 7, UNSIGNED_LESS, 2);
    assert(value != 0);
#elif defined NEVER
    __VERIFIER_xchg_await_aint(&x, 7, EQUAL, 3);
#else
    int value = __VERIFIER_xchg_await_aint(&x, 7, UNEQUAL, 0);
    assert(value == 1 || value == -2);
    value = __VERIFIER_load_await_aint(&x, UNEQUAL, 1);
    assert(value == 7 || value == -2);
#endif
    pthread_join(thread, 0);
}
