// BUG: one more is consumed than was produced.
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

unsigned produced, consumed;

void *first(void *unused) {
    for (;;) {
        __VERIFIER_atomic_begin();
        if (produced < 1000000)
            produced++;
        __VERIFIER_atomic_end();
    }
    return 0;
}

void *second(void *unused) {
    for (;;) {
        __VERIFIER_atomic_begin();
        if (consumed <= produced)
            consumed++;
        __VERIFIER_atomic_end();
        assert(consumed <= produced);
    }
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
