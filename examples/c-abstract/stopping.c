// A driver stops when nobody is inside any more.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int stopping, stopped, pending = 1;

static void leave(void) {
    __VERIFIER_atomic_begin();
    pending--;
    if (pending == 0)
        stopped = 1;
    __VERIFIER_atomic_end();
}

static int enter(void) {
    __VERIFIER_atomic_begin();
    if (stopping) {
        __VERIFIER_atomic_end();
        return 0;
    }
    pending++;
    __VERIFIER_atomic_end();
    return 1;
}

void *worker(void *unused) {
    while (__VERIFIER_nondet_int()) {
        if (enter()) {
            assert(!stopped);
            leave();
        }
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    __VERIFIER_atomic_begin();
    stopping = 1;
    __VERIFIER_atomic_end();
    leave();
    pthread_join(thread, 0);
    return 0;
}
