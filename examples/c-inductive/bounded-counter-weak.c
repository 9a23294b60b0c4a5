/* An invariant that is kept and says too little: the assertion does not follow. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <verifier.h>

#define LIMIT 1000

static atomic_int shared;

static void *counter(void *unused) {
    int i = 0;
    while (i < LIMIT) {
        __PARALLAX_invariant(i < LIMIT);
        i++;
        atomic_store_explicit(&shared, i, memory_order_relaxed);
    }
    return NULL;
}

static void *reader(void *unused) {
    int seen = atomic_load_explicit(&shared, memory_order_relaxed);
    assert(seen >= 0 && seen <= LIMIT);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, counter, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
