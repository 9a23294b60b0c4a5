/* BUG: a popped node is freed at once, though another thread may be about to read its successor. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

static _Atomic(struct node *) top;

static void push(struct node *node) {
    struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
    do
        node->next = old;
    while (!atomic_compare_exchange_strong_explicit(&top, &old, node, memory_order_release,
                                                    memory_order_relaxed));
}

static struct node *pop(void) {
    struct node *old = atomic_load_explicit(&top, memory_order_acquire);
    while (old && !atomic_compare_exchange_strong_explicit(&top, &old, old->next,
                                                           memory_order_acquire,
                                                           memory_order_acquire))
        ;
    return old;
}

static void *worker(void *argument) {
    int me = (int)(long)argument;
    struct node *node = malloc(sizeof *node);
    node->value = me + 1;
    push(node);
    node = pop();
    assert(node);
    free(node);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(!pop());
}
