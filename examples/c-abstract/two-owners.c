// BUG: both threads find that there is no owner yet.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern int __VERIFIER_nondet_int(void);

atomic_int owner, made;

static void claim(int me) {
    if (atomic_load(&owner) == 0) {
        atomic_store(&owner, me);
        made++;
    }
    while (__VERIFIER_nondet_int())
        assert(made <= 1);
}

void *first(void *unused) {
    claim(1);
    return 0;
}

void *second(void *unused) {
    claim(2);
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
