/* Stack of R. K. Treiber, with weak compare-and-swaps: one that fails for no reason is tried again,
   and nobody notices. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef N
#define N 3
#endif

struct node {
    struct node *next;
    int value;
};

static _Atomic(struct node *) top;

static void *push(void *argument) {
    struct node *node = malloc(sizeof *node);
    node->value = 1;
    struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
    do {
        node->next = old;
    } while (!atomic_compare_exchange_weak_explicit(&top, &old, node, memory_order_release,
                                                    memory_order_relaxed));
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, push, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    int sum = 0;
    for (struct node *node = top, *next; node; node = next) {
        next = node->next;
        sum += node->value;
        free(node);
    }
    assert(sum == N);
}
