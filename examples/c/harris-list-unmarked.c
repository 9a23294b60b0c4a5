/* BUG: a node is unlinked without marking its own link first. What another thread inserts behind
 * it at the same moment is lost. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { HEAD, TAIL, FIRST, NODES = 5 };

struct node {
    int key;
    atomic_uint link;
};

static struct node nodes[NODES] = {{.key = 0, .link = TAIL << 1}, {.key = 99}};

static unsigned index_of(unsigned link) {
    return link >> 1;
}

/* The last node with a smaller key; *right is the one behind it. Unlinks marked nodes. */
static unsigned search(int key, unsigned *right) {
again:;
    unsigned left = HEAD;
    unsigned at = index_of(atomic_load(&nodes[left].link));
    for (;;) {
        unsigned link = atomic_load(&nodes[at].link);
        if (link & 1) {
            unsigned expected = at << 1;
            if (!atomic_compare_exchange_strong(&nodes[left].link, &expected, link & ~1u))
                goto again;
        } else if (nodes[at].key >= key) {
            *right = at;
            return left;
        } else {
            left = at;
        }
        at = index_of(link);
    }
}

static int insert(unsigned node, int key) {
    unsigned right, left;
    nodes[node].key = key;
    do {
        left = search(key, &right);
        if (nodes[right].key == key)
            return 0;
        atomic_store(&nodes[node].link, right << 1);
        right <<= 1;
    } while (!atomic_compare_exchange_strong(&nodes[left].link, &right, node << 1));
    return 1;
}

static int delete(int key) {
    unsigned right, left, link;
    do {
        left = search(key, &right);
        if (nodes[right].key != key)
            return 0;
        link = atomic_load(&nodes[right].link);
        right <<= 1;
    } while (!atomic_compare_exchange_strong(&nodes[left].link, &right, link));
    return 1;
}

static int contains(int key) {
    unsigned right;
    search(key, &right);
    return nodes[right].key == key;
}

static void *deleter(void *unused) {
    assert(delete(2));
    return NULL;
}

static void *inserter(void *unused) {
    assert(insert(FIRST + 1, 3));
    return NULL;
}

int main(void) {
    insert(FIRST, 2);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, deleter, NULL);
    pthread_create(&threads[1], NULL, inserter, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert(contains(3) && !contains(2));
}
