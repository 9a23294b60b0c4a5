/* Peterson's mutual exclusion with the least that C11 needs: whose turn it is goes by exchanges,
 * which see one another, and so the second of them sees the flag of the first (Williams). */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_bool wants[2];
static atomic_int turn;
static int counter;

static void lock(int me) {
    int other = 1 - me;
    atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
    atomic_exchange_explicit(&turn, other, memory_order_acq_rel);
    while (atomic_load_explicit(&wants[other], memory_order_acquire) &&
           atomic_load_explicit(&turn, memory_order_relaxed) == other)
        ;
}

static void unlock(int me) {
    atomic_store_explicit(&wants[me], 0, memory_order_release);
}

static void *worker(void *argument) {
    int me = (int)(long)argument;
    lock(me);
    counter++;
    unlock(me);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, worker, (void *)0L);
    pthread_create(&second, NULL, worker, (void *)1L);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(counter == 2);
}
