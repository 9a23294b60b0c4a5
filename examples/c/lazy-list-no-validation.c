/* BUG: nobody looks again once the locks are taken. A node may be inserted behind one that has just
 * been deleted, and is lost. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct node {
    pthread_mutex_t lock;
    int key;
    _Atomic(struct node *) next;
    atomic_bool marked;
};

static struct node tail = {.lock = PTHREAD_MUTEX_INITIALIZER, .key = 99};
static struct node two = {.lock = PTHREAD_MUTEX_INITIALIZER, .key = 2, .next = &tail};
static struct node head = {.lock = PTHREAD_MUTEX_INITIALIZER, .key = 0, .next = &two};
static struct node three = {.lock = PTHREAD_MUTEX_INITIALIZER, .key = 3};

static struct node *next_of(struct node *node) {
    return atomic_load_explicit(&node->next, memory_order_acquire);
}

/* Locks the last node with a smaller key and the one behind it. */
static void locate(int key, struct node **left, struct node **right) {
    *left = &head;
    for (*right = next_of(*left); (*right)->key < key; *right = next_of(*right))
        *left = *right;
    pthread_mutex_lock(&(*left)->lock);
    pthread_mutex_lock(&(*right)->lock);
}

static void unlock(struct node *left, struct node *right) {
    pthread_mutex_unlock(&left->lock);
    pthread_mutex_unlock(&right->lock);
}

static void insert(struct node *node) {
    struct node *left, *right;
    locate(node->key, &left, &right);
    atomic_store_explicit(&node->next, right, memory_order_relaxed);
    atomic_store_explicit(&left->next, node, memory_order_release);
    unlock(left, right);
}

static void delete(int key) {
    struct node *left, *right;
    locate(key, &left, &right);
    assert(right->key == key);
    atomic_store_explicit(&right->marked, 1, memory_order_release);
    atomic_store_explicit(&left->next, next_of(right), memory_order_release);
    unlock(left, right);
}

static void *inserter(void *unused) {
    insert(&three);
    return NULL;
}

static void *deleter(void *unused) {
    delete(2);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, inserter, NULL);
    pthread_create(&threads[1], NULL, deleter, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert(next_of(&head) == &three && next_of(&three) == &tail);
}
