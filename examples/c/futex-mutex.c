/* A mutex on top of a futex (Drepper, Futexes are tricky): 0 free, 1 taken, 2 taken and somebody
 * may sleep. Waking is a counter here that sleepers watch. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int word, wakes;
static int counter;

static void futex_wait(int value) {
    int seen = atomic_load(&wakes);
    if (atomic_load(&word) != value)
        return;
    while (atomic_load(&wakes) == seen)
        ;
}

static void futex_wake(void) {
    atomic_fetch_add(&wakes, 1);
}

static void lock(void) {
    int seen = 0;
    if (atomic_compare_exchange_strong(&word, &seen, 1))
        return;
    while (atomic_exchange(&word, 2) != 0)
        futex_wait(2);
}

static void unlock(void) {
    if (atomic_exchange(&word, 0) == 2)
        futex_wake();
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
