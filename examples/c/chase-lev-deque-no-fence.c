/* BUG: take has no fence between its store to bottom and its load of top. The store may still be
 * in the owner's buffer when a thief looks, and both get the same task. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define SIZE 4
#define EMPTY 0
#define ABORT -1

static atomic_long top, bottom;
static atomic_int slots[SIZE];
static atomic_int taken[3];

static void push(int value) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&slots[b % SIZE], value, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
}

static int take(void) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
    long t = atomic_load_explicit(&top, memory_order_relaxed);
    if (t > b) {
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
        return EMPTY;
    }
    int value = atomic_load_explicit(&slots[b % SIZE], memory_order_relaxed);
    if (t == b) {
        if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst,
                                                     memory_order_relaxed))
            value = EMPTY;
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
    return value;
}

static int steal(void) {
    long t = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    long b = atomic_load_explicit(&bottom, memory_order_acquire);
    if (t >= b)
        return EMPTY;
    int value = atomic_load_explicit(&slots[t % SIZE], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return ABORT;
    return value;
}

static void got(int value) {
    if (value > 0)
        assert(atomic_fetch_add_explicit(&taken[value], 1, memory_order_relaxed) == 0);
}

static void *thief(void *unused) {
    got(steal());
    got(steal());
    return NULL;
}

int main(void) {
    pthread_t thread;
    push(1);
    push(2);
    pthread_create(&thread, NULL, thief, NULL);
    got(take());
    got(take());
    pthread_join(thread, NULL);
    got(take());
    assert(atomic_load(&taken[1]) && atomic_load(&taken[2]));
}
