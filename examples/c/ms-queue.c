/* The queue of Michael and Scott: a linked list with a dummy node in front; who finds the tail
 * behind helps it on. Nodes are freed at the end. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    _Atomic(struct node *) next;
    int value;
};

static _Atomic(struct node *) head, tail;

static struct node *new_node(int value) {
    struct node *node = malloc(sizeof *node);
    atomic_init(&node->next, NULL);
    node->value = value;
    return node;
}

static void enqueue(int value) {
    struct node *node = new_node(value);
    for (;;) {
        struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
        struct node *next = atomic_load_explicit(&last->next, memory_order_acquire);
        if (next) {
            atomic_compare_exchange_strong_explicit(&tail, &last, next, memory_order_release,
                                                    memory_order_relaxed);
        } else if (atomic_compare_exchange_strong_explicit(&last->next, &next, node,
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

static int received;

static void *producer(void *argument) {
    enqueue((int)(long)argument);
    return NULL;
}

static void *consumer(void *unused) {
    received = dequeue();
    return NULL;
}

int main(void) {
    struct node *dummy = new_node(0);
    atomic_init(&head, dummy);
    atomic_init(&tail, dummy);
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, producer, (void *)1L);
    pthread_create(&threads[1], NULL, producer, (void *)2L);
    pthread_create(&threads[2], NULL, consumer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    int sum = received;
    for (int value; (value = dequeue());)
        sum += value;
    assert(sum == 3);
    while (dummy) {
        struct node *next = atomic_load(&dummy->next);
        free(dummy);
        dummy = next;
    }
}
