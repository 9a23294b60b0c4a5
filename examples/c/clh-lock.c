/* CLH queue lock (Craig; Landin and Hagersten): each thread spins on the node of the one before,
 * and takes that node over for its next turn. */
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

static struct node *lock(struct node *mine) {
    atomic_store_explicit(&mine->locked, 1, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&tail, mine, memory_order_acq_rel);
    while (atomic_load_explicit(&before->locked, memory_order_acquire))
        ;
    return before;
}

static void unlock(struct node *mine) {
    atomic_store_explicit(&mine->locked, 0, memory_order_release);
}

static void *worker(void *unused) {
    struct node *mine = malloc(sizeof *mine);
    for (int i = 0; i < TURNS; i++) {
        struct node *before = lock(mine);
        counter++;
        unlock(mine);
        mine = before;
    }
    free(mine);
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
    free(atomic_load(&tail));
}
