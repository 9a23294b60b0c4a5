// A counter that two threads raise until it reaches a bound that is an input.
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned bound, count;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *unused) {
    for (;;) {
        pthread_mutex_lock(&lock);
        if (count >= bound) {
            pthread_mutex_unlock(&lock);
            return 0;
        }
        count++;
        pthread_mutex_unlock(&lock);
    }
}

int main(void) {
    pthread_t one, two;
    bound = __VERIFIER_nondet_uint();
    pthread_create(&one, 0, worker, 0);
    pthread_create(&two, 0, worker, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(count == bound);
    return 0;
}
