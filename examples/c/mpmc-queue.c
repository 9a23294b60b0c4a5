/* Vyukov's bounded queue for many producers and consumers: every cell has a sequence number that
 * says whose turn it is. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define SIZE 2

struct cell {
    atomic_uint sequence;
    int value;
};

static struct cell cells[SIZE];
static atomic_uint enqueue_at, dequeue_at;
static int received[2];

static int enqueue(int value) {
    unsigned at = atomic_load_explicit(&enqueue_at, memory_order_relaxed);
    for (;;) {
        struct cell *cell = &cells[at % SIZE];
        unsigned sequence = atomic_load_explicit(&cell->sequence, memory_order_acquire);
        int difference = (int)(sequence - at);
        if (difference == 0) {
            if (atomic_compare_exchange_strong_explicit(&enqueue_at, &at, at + 1,
                                                        memory_order_relaxed,
                                                        memory_order_relaxed)) {
                cell->value = value;
                atomic_store_explicit(&cell->sequence, at + 1, memory_order_release);
                return 1;
            }
        } else if (difference < 0) {
            return 0;
        } else {
            at = atomic_load_explicit(&enqueue_at, memory_order_relaxed);
        }
    }
}

/* A value, or 0 if there is none. */
static int dequeue(void) {
    unsigned at = atomic_load_explicit(&dequeue_at, memory_order_relaxed);
    for (;;) {
        struct cell *cell = &cells[at % SIZE];
        unsigned sequence = atomic_load_explicit(&cell->sequence, memory_order_acquire);
        int difference = (int)(sequence - (at + 1));
        if (difference == 0) {
            if (atomic_compare_exchange_strong_explicit(&dequeue_at, &at, at + 1,
                                                        memory_order_relaxed,
                                                        memory_order_relaxed)) {
                int value = cell->value;
                atomic_store_explicit(&cell->sequence, at + SIZE, memory_order_release);
                return value;
            }
        } else if (difference < 0) {
            return 0;
        } else {
            at = atomic_load_explicit(&dequeue_at, memory_order_relaxed);
        }
    }
}

static void *worker(void *argument) {
    int me = (int)(long)argument;
    assert(enqueue(me + 1));
    received[me] = dequeue();
    return NULL;
}

int main(void) {
    for (unsigned i = 0; i < SIZE; i++)
        atomic_init(&cells[i].sequence, i);
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    int sum = received[0] + received[1];
    for (int value; (value = dequeue());)
        sum += value;
    assert(sum == 3);
}
