/* Reader-writer spin lock in one word: the number of readers, or -1 for a writer. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef READERS
#define READERS 2
#endif

static atomic_int word;
static int left, right;

static void read_lock(void) {
    for (;;) {
        int readers = atomic_load_explicit(&word, memory_order_relaxed);
        if (readers >= 0 &&
            atomic_compare_exchange_weak_explicit(&word, &readers, readers + 1,
                                                  memory_order_acquire, memory_order_relaxed))
            return;
    }
}

static void read_unlock(void) {
    atomic_fetch_sub_explicit(&word, 1, memory_order_release);
}

static void write_lock(void) {
    int nobody = 0;
    while (!atomic_compare_exchange_strong_explicit(&word, &nobody, -1, memory_order_acquire,
                                                    memory_order_relaxed))
        nobody = 0;
}

static void write_unlock(void) {
    atomic_store_explicit(&word, 0, memory_order_release);
}

static void *reader(void *unused) {
    read_lock();
    assert(left == right);
    read_unlock();
    return NULL;
}

static void *writer(void *unused) {
    write_lock();
    left++;
    right++;
    write_unlock();
    return NULL;
}

int main(void) {
    pthread_t threads[READERS + 1];
    pthread_create(&threads[READERS], NULL, writer, NULL);
    for (int i = 0; i < READERS; i++)
        pthread_create(&threads[i], NULL, reader, NULL);
    for (int i = 0; i <= READERS; i++)
        pthread_join(threads[i], NULL);
}
