// BUG: the second thread goes on only if an input is 1, and the first one needs that it is. Where it is not,
// the second thread waits for ever, and nothing keeps the first one from its assertion.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

int input, passed;

void *needs(void *unused) {
    int seen = input;
    assert(seen == 1);
    return 0;
}

void *waits(void *unused) {
    int seen = input;
    __VERIFIER_assume(seen == 1);
    passed = 1;
    return 0;
}

int main(void) {
    pthread_t first, second;
    input = __VERIFIER_nondet_int();
    pthread_create(&first, 0, needs, 0);
    pthread_create(&second, 0, waits, 0);
}
