// BUG: whether somebody was faster is not looked at under the lock.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern int __VERIFIER_nondet_int(void);

atomic_int ready;
int value;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void get(int input) {
    if (ready == 0) {
        pthread_mutex_lock(&lock);
        value = input;
        ready = 1;
        pthread_mutex_unlock(&lock);
    }
    int seen = value;
    while (__VERIFIER_nondet_int())
        assert(value == seen);
}

void *first(void *unused) {
    get(__VERIFIER_nondet_int());
    return 0;
}

void *second(void *unused) {
    get(__VERIFIER_nondet_int());
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
