/* Message passing: the reader waits as long as it has to. Right where stores stay in order, so not
 * under PSO. No invariant is needed. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int data, ready;

static void *writer(void *unused) {
    atomic_store_explicit(&data, 42, memory_order_relaxed);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return NULL;
}

static void *reader(void *unused) {
    while (atomic_load_explicit(&ready, memory_order_relaxed) == 0)
        ;
    assert(atomic_load_explicit(&data, memory_order_relaxed) == 42);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
