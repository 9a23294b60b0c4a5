/* BUG: ABA. Nodes are used again: a thread that is about to replace the top by its successor does
 * not notice that the same node came back with another one. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct node {
    _Atomic(struct node *) next;
    atomic_int owners;
};

static struct node nodes[2];
static _Atomic(struct node *) top;

static void push(struct node *node) {
    struct node *old = atomic_load(&top);
    atomic_fetch_sub(&node->owners, 1);
    do
        atomic_store(&node->next, old);
    while (!atomic_compare_exchange_strong(&top, &old, node));
}

static struct node *pop(void) {
    struct node *old = atomic_load(&top);
    while (old && !atomic_compare_exchange_strong(&top, &old, atomic_load(&old->next)))
        ;
    if (old)
        assert(atomic_fetch_add(&old->owners, 1) == 0);
    return old;
}

static void *taker(void *unused) {
    pop();
    return NULL;
}

static void *returner(void *unused) {
    struct node *first = pop();
    pop();
    if (first)
        push(first);
    return NULL;
}

int main(void) {
    atomic_init(&nodes[0].next, &nodes[1]);
    atomic_init(&top, &nodes[0]);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, taker, NULL);
    pthread_create(&threads[1], NULL, returner, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    while (pop())
        ;
}
