/* BUG: the lock is given back by a relaxed store, so what happened inside need not be visible to
 * the next owner. Right on x86, where stores keep their order. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

static atomic_int locked;
static int counter;

static void lock(void) {
    do {
        while (atomic_load_explicit(&locked, memory_order_relaxed))
            ;
    } while (atomic_exchange_explicit(&locked, 1, memory_order_acquire));
}

static void unlock(void) {
    atomic_store_explicit(&locked, 0, memory_order_relaxed);
}

static void *worker(void *unused) {
    lock();
    counter++;
    unlock();
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N);
}
