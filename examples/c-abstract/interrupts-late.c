// BUG: one that is being served is not waited for.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern int __VERIFIER_nondet_int(void);

atomic_int masked, serving;
int busy;

void *first(void *unused) {
    while (__VERIFIER_nondet_int()) {
        atomic_store(&masked, 1);
        busy = 1;
        busy = 0;
        atomic_store(&masked, 0);
    }
    return 0;
}

void *second(void *unused) {
    while (__VERIFIER_nondet_int()) {
        atomic_store(&serving, 1);
        if (!atomic_load(&masked))
            assert(!busy);
        atomic_store(&serving, 0);
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
