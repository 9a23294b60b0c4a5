// BUG: a lock that is looked at first, and taken after that.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern int __VERIFIER_nondet_int(void);

atomic_int taken;
int shared;

static void work(int step) {
    while (__VERIFIER_nondet_int()) {
        while (atomic_load(&taken))
            ;
        atomic_store(&taken, 1);
        int before = shared;
        shared = before + step;
        assert(shared == before + step);
        shared = before;
        atomic_store(&taken, 0);
    }
}

void *first(void *unused) {
    work(1);
    return 0;
}

void *second(void *unused) {
    work(2);
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
