/* The stack with a counter beside the index of the top node, which every change increases: the
 * cure for ABA. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

/* Nodes are 1 and 2; 0 is none. The top is an index below and a counter above. */
static atomic_uint next[3];
static atomic_int owners[3];
static atomic_uint top;

static unsigned with_index(unsigned old, unsigned node) {
    return ((old >> 8) + 1) << 8 | node;
}

static void push(unsigned node) {
    atomic_fetch_sub(&owners[node], 1);
    unsigned old = atomic_load(&top);
    do
        atomic_store(&next[node], old & 0xff);
    while (!atomic_compare_exchange_strong(&top, &old, with_index(old, node)));
}

static unsigned pop(void) {
    unsigned old = atomic_load(&top);
    while (old & 0xff) {
        unsigned new = with_index(old, atomic_load(&next[old & 0xff]));
        if (atomic_compare_exchange_strong(&top, &old, new)) {
            assert(atomic_fetch_add(&owners[old & 0xff], 1) == 0);
            return old & 0xff;
        }
    }
    return 0;
}

static void *taker(void *unused) {
    pop();
    return NULL;
}

static void *returner(void *unused) {
    unsigned first = pop();
    pop();
    if (first)
        push(first);
    return NULL;
}

int main(void) {
    atomic_init(&next[1], 2);
    atomic_init(&top, 1);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, taker, NULL);
    pthread_create(&threads[1], NULL, returner, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    while (pop())
        ;
}
