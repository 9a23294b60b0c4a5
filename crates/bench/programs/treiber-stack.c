/* The stack of R. K. Treiber (IBM, 1986): N threads push one node each and pop one. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

static _Atomic(struct node *) top;

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
    do
        node->next = old;
    while (!atomic_compare_exchange_strong_explicit(&top, &old, node, memory_order_acq_rel,
                                                    memory_order_relaxed));
}

static int pop(void) {
    struct node *old = atomic_load_explicit(&top, memory_order_acquire);
    while (!atomic_compare_exchange_strong_explicit(&top, &old, old->next, memory_order_acq_rel,
                                                    memory_order_acquire))
        ;
    return old->value;
}

static void *worker(void *argument) {
    push((int)(long)argument);
    int value = pop();
    assert(0 < value && value <= N);
    return NULL;
}

int main(void) {
    pthread_t thread;
    for (long i = 1; i <= N; i++)
        pthread_create(&thread, NULL, worker, (void *)i);
}
