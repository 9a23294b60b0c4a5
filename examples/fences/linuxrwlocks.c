/* The reader-writer lock of old Linux kernels: readers take one of BIAS, writers all of it. Locking
 * does not acquire, and unlocking does not release. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef READERS
#define READERS 1
#endif
#ifndef WRITERS
#define WRITERS 2
#endif
#define BIAS 0x100000

static atomic_int lock = BIAS;
static int data;

static int can_take(int amount) {
    if (atomic_fetch_sub_explicit(&lock, amount, memory_order_relaxed) >= amount)
        return 1;
    atomic_fetch_add_explicit(&lock, amount, memory_order_relaxed);
    return 0;
}

static void give_back(int amount) {
    atomic_fetch_add_explicit(&lock, amount, memory_order_relaxed);
}

static void *reader(void *unused) {
    if (can_take(1)) {
        assert(data % 2 == 0);
        give_back(1);
    }
    return NULL;
}

static void *writer(void *unused) {
    if (can_take(BIAS)) {
        data++;
        data++;
        give_back(BIAS);
    }
    return NULL;
}

int main(void) {
    pthread_t readers[READERS], writers[WRITERS];
    for (int i = 0; i < READERS; i++)
        pthread_create(&readers[i], NULL, reader, NULL);
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&writers[i], NULL, writer, NULL);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
}
