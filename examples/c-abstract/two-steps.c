// One thread raises two counters one after the other, in two sections: the first is the same as the
// second, or one ahead.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

unsigned first, second;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *leader(void *unused) {
    while (__VERIFIER_nondet_int()) {
        pthread_mutex_lock(&lock);
        first++;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        second++;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, leader, 0);
    while (__VERIFIER_nondet_int()) {
        pthread_mutex_lock(&lock);
        assert(first == second || first == second + 1);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, 0);
    assert(first == second);
    return 0;
}
