/* Queue for one producer and one consumer without shared indices (FastForward, Giacomoni et al.,
 * PPoPP 2008): a slot that holds NULL is empty. What the pointers lead to is handed over too. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SIZE 2
#ifndef ITEMS
#define ITEMS 3
#endif

static _Atomic(int *) slots[SIZE];

static void *producer(void *unused) {
    for (int i = 0; i < ITEMS; i++) {
        int *item = malloc(sizeof *item);
        *item = i;
        while (atomic_load_explicit(&slots[i % SIZE], memory_order_acquire))
            ;
        atomic_store_explicit(&slots[i % SIZE], item, memory_order_release);
    }
    return NULL;
}

static void *consumer(void *unused) {
    for (int i = 0; i < ITEMS; i++) {
        int *item;
        while (!(item = atomic_load_explicit(&slots[i % SIZE], memory_order_acquire)))
            ;
        atomic_store_explicit(&slots[i % SIZE], NULL, memory_order_release);
        assert(*item == i);
        free(item);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, producer, NULL);
    pthread_create(&threads[1], NULL, consumer, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
