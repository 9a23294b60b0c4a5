/* The reader-writer lock of old Linux kernels: readers take one of BIAS, writers all of it. Locking
 * does not acquire, and unlocking does not release. One thread reads READS times, another writes
 * WRITES times. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef READS
#define READS 1
#endif
#ifndef WRITES
#define WRITES 1
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
    for (int i = 0; i < READS; i++) {
        if (can_take(1)) {
            assert(data % 2 == 0);
            give_back(1);
        }
    }
    return NULL;
}

static void *writer(void *unused) {
    for (int i = 0; i < WRITES; i++) {
        if (can_take(BIAS)) {
            data++;
            data++;
            give_back(BIAS);
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, writer, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
