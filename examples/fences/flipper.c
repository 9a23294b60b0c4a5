/* Two threads that turn their switches on and off, ROUNDS times. Never do both find the other's off
 * right after they have turned on their own for the last time. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef ROUNDS
#define ROUNDS 1
#endif

static atomic_int a, b;
static int a_alone, b_alone;

static void *flip_a(void *unused) {
    for (int i = 0; i < ROUNDS; i++) {
        atomic_store_explicit(&a, 0, memory_order_relaxed);
        atomic_store_explicit(&a, 1, memory_order_relaxed);
    }
    a_alone = atomic_load_explicit(&b, memory_order_relaxed) == 0;
    return NULL;
}

static void *flip_b(void *unused) {
    for (int i = 0; i < ROUNDS; i++) {
        atomic_store_explicit(&b, 0, memory_order_relaxed);
        atomic_store_explicit(&b, 1, memory_order_relaxed);
    }
    b_alone = atomic_load_explicit(&a, memory_order_relaxed) == 0;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, flip_a, NULL);
    pthread_create(&threads[1], NULL, flip_b, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert(!(a_alone && b_alone));
}
