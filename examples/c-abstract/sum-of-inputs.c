// BUG: the sum of two inputs is taken to be no less than the first one; machine words wrap around.
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

unsigned part, sum;

void *writer(void *unused) {
    unsigned first = __VERIFIER_nondet_uint();
    unsigned second = __VERIFIER_nondet_uint();
    __VERIFIER_atomic_begin();
    part = first;
    sum = first + second;
    __VERIFIER_atomic_end();
    return 0;
}

void *reader(void *unused) {
    __VERIFIER_atomic_begin();
    unsigned seen = sum;
    unsigned least = part;
    __VERIFIER_atomic_end();
    assert(seen >= least);
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, writer, 0);
    pthread_create(&two, 0, reader, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
