// A ring of places whose number is an input: however often threads put something there, no index leaves
// the ring.
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

#define MOST 8
unsigned ring[MOST];
unsigned size, next;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void put(unsigned value) {
    pthread_mutex_lock(&lock);
    assert(next < size);
    ring[next] = value;
    next++;
    if (next == size)
        next = 0;
    pthread_mutex_unlock(&lock);
}

void *producer(void *unused) {
    while (__VERIFIER_nondet_uint())
        put(1);
    return 0;
}

int main(void) {
    pthread_t thread;
    size = __VERIFIER_nondet_uint();
    if (size == 0 || size > MOST)
        return 0;
    pthread_create(&thread, 0, producer, 0);
    while (__VERIFIER_nondet_uint())
        put(2);
    pthread_join(thread, 0);
    return 0;
}
