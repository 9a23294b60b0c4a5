/* BUG: the producer announces an item with a relaxed store, so the consumer may read the slot
 * before the item is there. Right on x86, wrong where stores overtake one another. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define SIZE 2
#ifndef ITEMS
#define ITEMS 1
#endif

static atomic_uint head, tail;
static int slots[SIZE];

static void put(int value) {
    unsigned t = atomic_load_explicit(&tail, memory_order_relaxed);
    while (t - atomic_load_explicit(&head, memory_order_acquire) == SIZE)
        ;
    slots[t % SIZE] = value;
    atomic_store_explicit(&tail, t + 1, memory_order_relaxed);
}

static int get(void) {
    unsigned h = atomic_load_explicit(&head, memory_order_relaxed);
    while (h == atomic_load_explicit(&tail, memory_order_acquire))
        ;
    int value = slots[h % SIZE];
    atomic_store_explicit(&head, h + 1, memory_order_release);
    return value;
}

static void *producer(void *unused) {
    for (int i = 1; i <= ITEMS; i++)
        put(i);
    return NULL;
}

static void *consumer(void *unused) {
    for (int i = 1; i <= ITEMS; i++)
        assert(get() == i);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, producer, NULL);
    pthread_create(&threads[1], NULL, consumer, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
