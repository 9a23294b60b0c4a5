/* MCS queue lock (Mellor-Crummey and Scott): each thread spins on its own node, which the one
 * before clears. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

struct node {
    _Atomic(struct node *) next;
    atomic_bool waiting;
};

static _Atomic(struct node *) tail;
static struct node nodes[N];
static int counter;

static void lock(struct node *mine) {
    atomic_store_explicit(&mine->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&mine->waiting, 1, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&tail, mine, memory_order_acq_rel);
    if (before) {
        atomic_store_explicit(&before->next, mine, memory_order_release);
        while (atomic_load_explicit(&mine->waiting, memory_order_acquire))
            ;
    }
}

static void unlock(struct node *mine) {
    struct node *next = atomic_load_explicit(&mine->next, memory_order_acquire);
    if (!next) {
        struct node *expected = mine;
        if (atomic_compare_exchange_strong_explicit(&tail, &expected, NULL, memory_order_release,
                                                    memory_order_relaxed))
            return;
        while (!(next = atomic_load_explicit(&mine->next, memory_order_acquire)))
            ;
    }
    atomic_store_explicit(&next->waiting, 0, memory_order_release);
}

static void *worker(void *argument) {
    struct node *mine = argument;
    lock(mine);
    counter++;
    unlock(mine);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, &nodes[i]);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N);
}
