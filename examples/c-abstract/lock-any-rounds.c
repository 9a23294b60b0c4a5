// A lock is taken as often as an input wants; whoever holds it changes what the others rely on, and
// puts it back.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

int x;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *unused) {
    int rounds = __VERIFIER_nondet_int();
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        x++;
        x--;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, worker, 0);
    pthread_create(&two, 0, worker, 0);
    pthread_mutex_lock(&lock);
    assert(x == 0);
    pthread_mutex_unlock(&lock);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
