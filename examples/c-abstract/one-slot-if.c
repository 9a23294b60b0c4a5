// BUG: whoever waits for a condition does not look once more when woken up.
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned item;
int full;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void *producer(void *unused) {
    for (;;) {
        unsigned next = __VERIFIER_nondet_uint();
        if (next == 0)
            return 0;
        pthread_mutex_lock(&lock);
        while (full)
            pthread_cond_wait(&changed, &lock);
        item = next;
        full = 1;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
}

void *consumer(void *unused) {
    for (;;) {
        pthread_mutex_lock(&lock);
        if (!full)
            pthread_cond_wait(&changed, &lock);
        assert(item != 0);
        item = 0;
        full = 0;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, producer, 0);
    pthread_create(&two, 0, consumer, 0);
    consumer(0);
    return 0;
}
