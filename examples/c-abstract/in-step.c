// Two counters go up together, as often as inputs want.
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned left, right;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *first(void *unused) {
    while (__VERIFIER_nondet_uint()) {
        pthread_mutex_lock(&lock);
        left++;
        right++;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

void *second(void *unused) {
    while (__VERIFIER_nondet_uint()) {
        pthread_mutex_lock(&lock);
        assert(left == right);
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
