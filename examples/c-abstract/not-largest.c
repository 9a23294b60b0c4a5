// BUG: the largest of all inputs is compared and set without a lock.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

int most;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void offer(void) {
    while (__VERIFIER_nondet_int()) {
        int value = __VERIFIER_nondet_int();
        if (value > most)
            most = value;
        assert(most >= value);
    }
}

void *first(void *unused) {
    offer();
    return 0;
}

void *second(void *unused) {
    offer();
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
