// Two sums that every thread keeps equal, whatever it adds and however often.
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned left, right;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *unused) {
    while (__VERIFIER_nondet_uint()) {
        unsigned more = __VERIFIER_nondet_uint();
        pthread_mutex_lock(&lock);
        left += more;
        right += more;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, worker, 0);
    pthread_create(&two, 0, worker, 0);
    pthread_mutex_lock(&lock);
    assert(left == right);
    pthread_mutex_unlock(&lock);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(left == right);
    return 0;
}
