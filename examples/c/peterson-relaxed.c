/* BUG: everything is relaxed. Even on x86 both threads enter, since each one's flag may still be in
 * its store buffer when the other looks. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_bool wants[2];
static atomic_int turn;
static int counter;

static void lock(int me) {
    int other = 1 - me;
    atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
    atomic_store_explicit(&turn, other, memory_order_relaxed);
    while (atomic_load_explicit(&wants[other], memory_order_relaxed) &&
           atomic_load_explicit(&turn, memory_order_relaxed) == other)
        ;
}

static void unlock(int me) {
    atomic_store_explicit(&wants[me], 0, memory_order_relaxed);
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
