// An answer is to the request that was made.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

int request, answer, state;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *first(void *unused) {
    while (__VERIFIER_nondet_int()) {
        pthread_mutex_lock(&lock);
        if (state == 0) {
            request = __VERIFIER_nondet_int();
            state = 1;
        } else if (state == 2) {
            assert(answer == request + 1);
            state = 0;
        }
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

void *second(void *unused) {
    while (__VERIFIER_nondet_int()) {
        pthread_mutex_lock(&lock);
        if (state == 1) {
            answer = request + 1;
            state = 2;
        }
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
