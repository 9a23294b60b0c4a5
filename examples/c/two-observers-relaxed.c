/* BUG: two threads look at two independent writes, and nothing orders their looks. On machines that
 * publish a write to everyone at once acquire loads repair it; C11 asks for more (IRIW). */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int saw[4];

static void *write_x(void *unused) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return NULL;
}

static void *write_y(void *unused) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return NULL;
}

static void *x_then_y(void *unused) {
    saw[0] = atomic_load_explicit(&x, memory_order_relaxed);
    saw[1] = atomic_load_explicit(&y, memory_order_relaxed);
    return NULL;
}

static void *y_then_x(void *unused) {
    saw[2] = atomic_load_explicit(&y, memory_order_relaxed);
    saw[3] = atomic_load_explicit(&x, memory_order_relaxed);
    return NULL;
}

int main(void) {
    void *(*bodies[4])(void *) = {write_x, write_y, x_then_y, y_then_x};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, bodies[i], NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert(!(saw[0] && !saw[1] && saw[2] && !saw[3]));
}
