// ask -p assert: 0|3
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_assume(int condition);

// A program that has its own functions for the ends of sections: by their names nobody interrupts them.
static int taken, n;

void __VERIFIER_atomic_begin(void) {
    __VERIFIER_assume(taken == 0);
    taken = 1;
}

void __VERIFIER_atomic_end(void) {
    __VERIFIER_assume(taken == 1);
    taken = 0;
}

static void *add(void *arg) {
    __VERIFIER_atomic_begin();
    int k = n;
    n = k + 1;
    __VERIFIER_atomic_end();
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&two, NULL, add, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    assert(n == 2 && "both");
    return 0;
}
