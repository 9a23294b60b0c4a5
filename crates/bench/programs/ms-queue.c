/* The queue of M. M. Michael and M. L. Scott (PODC 1996): N threads put one value each into it,
 * one more takes two out. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    _Atomic(struct node *) next;
    int value;
};

static _Atomic(struct node *) head, tail;

static void enqueue(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    atomic_init(&node->next, NULL);
    for (;;) {
        struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
        struct node *next = atomic_load_explicit(&last->next, memory_order_acquire);
        if (next)
            atomic_compare_exchange_strong_explicit(&tail, &last, next, memory_order_release,
                                                    memory_order_relaxed);
        else if (atomic_compare_exchange_strong_explicit(&last->next, &next, node,
                                                         memory_order_release,
                                                         memory_order_relaxed)) {
            atomic_compare_exchange_strong_explicit(&tail, &last, node, memory_order_release,
                                                    memory_order_relaxed);
            return;
        }
    }
}

/* The oldest value, or 0 if there is none. */
static int dequeue(void) {
    for (;;) {
        struct node *first = atomic_load_explicit(&head, memory_order_acquire);
        struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
        struct node *next = atomic_load_explicit(&first->next, memory_order_acquire);
        if (!next)
            return 0;
        if (first == last) {
            atomic_compare_exchange_strong_explicit(&tail, &last, next, memory_order_release,
                                                    memory_order_relaxed);
            continue;
        }
        int value = next->value;
        if (atomic_compare_exchange_strong_explicit(&head, &first, next, memory_order_acq_rel,
                                                    memory_order_relaxed))
            return value;
    }
}

static void *producer(void *argument) {
    enqueue((int)(long)argument);
    return NULL;
}

static void *consumer(void *unused) {
    int first = dequeue();
    int second = dequeue();
    assert(first == 0 || first != second);
    return NULL;
}

int main(void) {
    struct node *dummy = malloc(sizeof *dummy);
    atomic_init(&dummy->next, NULL);
    atomic_init(&head, dummy);
    atomic_init(&tail, dummy);
    pthread_t thread;
    for (long i = 1; i <= N; i++)
        pthread_create(&thread, NULL, producer, (void *)i);
    pthread_create(&thread, NULL, consumer, NULL);
}
