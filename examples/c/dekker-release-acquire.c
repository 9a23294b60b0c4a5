/* BUG: release and acquire are not enough for Dekker's algorithm. Each thread may read the other's
 * flag before its own is visible, and both enter: the store buffering of x86 does it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_bool wants[2];
static atomic_int turn;
static int counter;

static void lock(int me) {
    int other = 1 - me;
    atomic_store_explicit(&wants[me], 1, memory_order_release);
    while (atomic_load_explicit(&wants[other], memory_order_acquire)) {
        if (atomic_load_explicit(&turn, memory_order_acquire) != me) {
            atomic_store_explicit(&wants[me], 0, memory_order_release);
            while (atomic_load_explicit(&turn, memory_order_acquire) != me)
                ;
            atomic_store_explicit(&wants[me], 1, memory_order_release);
        }
    }
}

static void unlock(int me) {
    atomic_store_explicit(&turn, 1 - me, memory_order_release);
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
