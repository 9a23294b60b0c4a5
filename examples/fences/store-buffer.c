/* ROUNDS times each thread raises its own count and looks at the other's. One of them must see
 * that the other has come to its last round. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef ROUNDS
#define ROUNDS 1
#endif

static atomic_int x, y;
static int r0, r1;

static void *left(void *unused) {
    for (int i = 1; i <= ROUNDS; i++) {
        atomic_store_explicit(&x, i, memory_order_relaxed);
        r0 = atomic_load_explicit(&y, memory_order_relaxed);
    }
    return NULL;
}

static void *right(void *unused) {
    for (int i = 1; i <= ROUNDS; i++) {
        atomic_store_explicit(&y, i, memory_order_relaxed);
        r1 = atomic_load_explicit(&x, memory_order_relaxed);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, left, NULL);
    pthread_create(&threads[1], NULL, right, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert(r0 == ROUNDS || r1 == ROUNDS);
}
