// A mark rises to the largest of all inputs; whoever looks at it never sees it fall.
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned mark;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *raise(void *unused) {
    for (;;) {
        unsigned level = __VERIFIER_nondet_uint();
        pthread_mutex_lock(&lock);
        if (level > mark)
            mark = level;
        pthread_mutex_unlock(&lock);
    }
}

int main(void) {
    pthread_t thread;
    unsigned last = 0;
    pthread_create(&thread, 0, raise, 0);
    for (;;) {
        pthread_mutex_lock(&lock);
        unsigned now = mark;
        pthread_mutex_unlock(&lock);
        assert(now >= last);
        last = now;
    }
}
