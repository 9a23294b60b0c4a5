// BUG: something is taken from a stack that is empty.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

int top, size;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *first(void *unused) {
    while (__VERIFIER_nondet_int()) {
        pthread_mutex_lock(&lock);
        if (top < size)
            top++;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

void *second(void *unused) {
    while (__VERIFIER_nondet_int()) {
        pthread_mutex_lock(&lock);
        top--;
        assert(top >= 0 && top <= size);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    size = __VERIFIER_nondet_int();
    if (size <= 0)
        return 0;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
