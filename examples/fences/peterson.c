/* Peterson's lock with an exchange that does not acquire, so that the look at the other's flag may
 * come before. FIRST and SECOND critical sections for the two threads. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef FIRST
#define FIRST ROUNDS
#endif
#ifndef SECOND
#define SECOND ROUNDS
#endif

static atomic_int wants[2], turn;
static int counter;

static void lock(int me) {
    atomic_store_explicit(&wants[me], 1, memory_order_release);
    atomic_exchange_explicit(&turn, 1 - me, memory_order_release);
    while (atomic_load_explicit(&wants[1 - me], memory_order_acquire) &&
           atomic_load_explicit(&turn, memory_order_acquire) != me)
        ;
}

static void unlock(int me) {
    atomic_store_explicit(&wants[me], 0, memory_order_release);
}

static void *worker(void *argument) {
    int me = (int)(long)argument;
    for (int i = 0; i < (me == 0 ? FIRST : SECOND); i++) {
        lock(me);
        counter++;
        unlock(me);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counter == FIRST + SECOND);
}
