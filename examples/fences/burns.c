/* Burns's lock for two threads with relaxed accesses. The second gives way. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef ROUNDS
#define ROUNDS 1
#endif

static atomic_int flag0, flag1;
static int counter;

static void *first(void *unused) {
    for (int i = 0; i < ROUNDS; i++) {
        atomic_store_explicit(&flag0, 1, memory_order_relaxed);
        while (atomic_load_explicit(&flag1, memory_order_relaxed) == 1)
            ;
        counter++;
        atomic_store_explicit(&flag0, 0, memory_order_relaxed);
    }
    return NULL;
}

static void *second(void *unused) {
    for (int i = 0; i < ROUNDS; i++) {
        for (;;) {
            atomic_store_explicit(&flag1, 0, memory_order_relaxed);
            while (atomic_load_explicit(&flag0, memory_order_relaxed) == 1)
                ;
            atomic_store_explicit(&flag1, 1, memory_order_relaxed);
            if (atomic_load_explicit(&flag0, memory_order_relaxed) == 0)
                break;
        }
        counter++;
        atomic_store_explicit(&flag1, 0, memory_order_relaxed);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert(counter == 2 * ROUNDS);
}
