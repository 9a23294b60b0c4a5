/* BUG: a thread goes on using its own node instead of that of the one before, which may still
 * spin on it: the flag is set again before it was seen to be clear, and both wait for ever. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef N
#define N 2
#endif
#ifndef TURNS
#define TURNS 2
#endif

struct node {
    atomic_bool locked;
};

static _Atomic(struct node *) tail;
static int counter;

static void lock(struct node *mine) {
    atomic_store_explicit(&mine->locked, 1, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&tail, mine, memory_order_acq_rel);
    while (atomic_load_explicit(&before->locked, memory_order_acquire))
        ;
}

static void unlock(struct node *mine) {
    atomic_store_explicit(&mine->locked, 0, memory_order_release);
}

static void *worker(void *unused) {
    struct node *mine = malloc(sizeof *mine);
    for (int i = 0; i < TURNS; i++) {
        lock(mine);
        counter++;
        unlock(mine);
    }
    return NULL;
}

int main(void) {
    struct node *first = malloc(sizeof *first);
    atomic_init(&first->locked, 0);
    atomic_init(&tail, first);
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N * TURNS);
}
