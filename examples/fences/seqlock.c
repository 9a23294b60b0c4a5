/* A sequence lock whose readers do not look at the sequence again after the data. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef READERS
#define READERS 1
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef READS
#define READS 1
#endif

static atomic_int sequence, left, right;

static void *writer(void *unused) {
    for (int i = 1; i <= ROUNDS; i++) {
        atomic_store_explicit(&sequence, 2 * i - 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&left, i, memory_order_relaxed);
        atomic_store_explicit(&right, i, memory_order_relaxed);
        atomic_store_explicit(&sequence, 2 * i, memory_order_release);
    }
    return NULL;
}

static void *reader(void *unused) {
    for (int i = 0; i < READS; i++) {
        int before = atomic_load_explicit(&sequence, memory_order_acquire);
        int l = atomic_load_explicit(&left, memory_order_relaxed);
        int r = atomic_load_explicit(&right, memory_order_relaxed);
        int after = atomic_load_explicit(&sequence, memory_order_relaxed);
        if (before == after && before % 2 == 0)
            assert(l == r);
    }
    return NULL;
}

int main(void) {
    pthread_t readers[READERS], last;
    pthread_create(&last, NULL, writer, NULL);
    for (int i = 0; i < READERS; i++)
        pthread_create(&readers[i], NULL, reader, NULL);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    pthread_join(last, NULL);
}
