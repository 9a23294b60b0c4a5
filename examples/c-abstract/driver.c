// A driver that is stopped by another thread: it works only while it has not been stopped, and the
// resources are gone only when nobody works any more.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

enum { STOPPED, RUNNING, CLOSED };
int state = RUNNING, pending, released;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *work(void *unused) {
    while (__VERIFIER_nondet_int()) {
        pthread_mutex_lock(&lock);
        int goes = state == RUNNING;
        if (goes)
            pending++;
        pthread_mutex_unlock(&lock);
        if (!goes)
            return 0;
        assert(!released);
        pthread_mutex_lock(&lock);
        pending--;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, 0, work, 0);
    pthread_mutex_lock(&lock);
    state = STOPPED;
    pthread_mutex_unlock(&lock);
    for (;;) {
        pthread_mutex_lock(&lock);
        if (pending == 0) {
            state = CLOSED;
            released = 1;
            pthread_mutex_unlock(&lock);
            break;
        }
        pthread_mutex_unlock(&lock);
    }
    pthread_join(worker, 0);
    assert(state == CLOSED);
    return 0;
}
