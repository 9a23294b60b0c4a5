// BUG: one permit more is given than there is.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int used, most;

static int take(void) {
    int ok = 0;
    __VERIFIER_atomic_begin();
    if (used <= most) {
        used++;
        ok = 1;
    }
    __VERIFIER_atomic_end();
    return ok;
}

static void give(void) {
    __VERIFIER_atomic_begin();
    used--;
    __VERIFIER_atomic_end();
}

void *worker(void *unused) {
    while (__VERIFIER_nondet_int()) {
        if (take()) {
            __VERIFIER_atomic_begin();
            assert(used <= most);
            __VERIFIER_atomic_end();
            give();
        }
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    most = __VERIFIER_nondet_int();
    if (most <= 0 || most > 3)
        return 0;
    pthread_create(&one, 0, worker, 0);
    pthread_create(&two, 0, worker, 0);
    worker(0);
    return 0;
}
