// The same, but each account is changed in a section of its own.
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

unsigned here = 100, there;

void *move(void *unused) {
    for (;;) {
        unsigned amount = __VERIFIER_nondet_uint();
        __VERIFIER_atomic_begin();
        here -= amount;
        __VERIFIER_atomic_end();
        __VERIFIER_atomic_begin();
        there += amount;
        __VERIFIER_atomic_end();
    }
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, move, 0);
    for (;;) {
        __VERIFIER_atomic_begin();
        assert(here + there == 100);
        __VERIFIER_atomic_end();
    }
}
