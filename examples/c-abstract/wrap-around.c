// BUG: a sum of two inputs wraps around: what is stored last may be less.
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

unsigned x, y;

void *first(void *unused) {
    unsigned a = __VERIFIER_nondet_uint();
    unsigned b = __VERIFIER_nondet_uint();
    __VERIFIER_atomic_begin();
    x = a;
    y = a + b;
    __VERIFIER_atomic_end();
    return 0;
}

void *second(void *unused) {
    __VERIFIER_atomic_begin();
    unsigned i = y;
    unsigned j = x;
    __VERIFIER_atomic_end();
    assert(i >= j);
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
