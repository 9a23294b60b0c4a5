// Items are made up to a number that is an input, and taken by two threads.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

int items, most;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *first(void *unused) {
    while (__VERIFIER_nondet_int()) {
        pthread_mutex_lock(&lock);
        if (items < most)
            items++;
        assert(items <= most);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

void *second(void *unused) {
    while (__VERIFIER_nondet_int()) {
        pthread_mutex_lock(&lock);
        if (items > 0) {
            items--;
            assert(items >= 0);
        }
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_t three;
    most = __VERIFIER_nondet_int();
    if (most < 0)
        return 0;
    pthread_create(&three, 0, second, 0);
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    pthread_join(three, 0);
    return 0;
}
