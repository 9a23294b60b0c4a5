// A counter stays below a limit that is an input.
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

unsigned count, limit;

void *first(void *unused) {
    while (__VERIFIER_nondet_uint()) {
        __VERIFIER_atomic_begin();
        if (count < limit)
            count++;
        __VERIFIER_atomic_end();
        assert(count <= limit);
    }
    return 0;
}

void *second(void *unused) {
    while (__VERIFIER_nondet_uint()) {
        __VERIFIER_atomic_begin();
        if (count < limit)
            count++;
        __VERIFIER_atomic_end();
        assert(count <= limit);
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    limit = __VERIFIER_nondet_uint();
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
