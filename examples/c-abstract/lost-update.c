// Two threads raise a counter as often as an input wants, one of them without the lock.
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned count, added;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *careless(void *unused) {
    unsigned rounds = __VERIFIER_nondet_uint();
    for (unsigned i = 0; i < rounds; i++)
        count++;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, careless, 0);
    pthread_mutex_lock(&lock);
    unsigned before = count;
    count++;
    assert(count == before + 1);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
