/* The first half of Dekker's lock, FIRST times in one thread and SECOND times in the other: who sees
 * the other's flag gives way. */
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

static atomic_int flag0, flag1;
static atomic_int inside;

static void critical(void) {
    assert(atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed) == 0);
    atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
}

static void *first(void *unused) {
    for (int i = 0; i < FIRST; i++) {
        atomic_store_explicit(&flag0, 1, memory_order_release);
        if (atomic_load_explicit(&flag1, memory_order_acquire) == 0)
            critical();
        atomic_store_explicit(&flag0, 0, memory_order_release);
    }
    return NULL;
}

static void *second(void *unused) {
    for (int i = 0; i < SECOND; i++) {
        atomic_store_explicit(&flag1, 1, memory_order_release);
        if (atomic_load_explicit(&flag0, memory_order_acquire) == 0)
            critical();
        atomic_store_explicit(&flag1, 0, memory_order_release);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
