// BUG: money is on its way while somebody counts.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

int here = 50, there = 50;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *first(void *unused) {
    while (__VERIFIER_nondet_int()) {
        int amount = __VERIFIER_nondet_int();
        if (amount > 0 && amount <= here) {
            here -= amount;
            there += amount;
        }
    }
    return 0;
}

void *second(void *unused) {
    while (__VERIFIER_nondet_int()) {
        pthread_mutex_lock(&lock);
        assert(here + there == 100);
        assert(here >= 0);
        pthread_mutex_unlock(&lock);
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
