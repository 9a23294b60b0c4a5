/* Store buffering: each thread writes one variable and reads the other. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int seen_x, seen_y;

static void *left(void *unused)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    seen_y = atomic_load_explicit(&y, memory_order_relaxed);
    return 0;
}

static void *right(void *unused)
{
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    seen_x = atomic_load_explicit(&x, memory_order_relaxed);
    return 0;
}

int main(void)
{
    pthread_t l, r;
    pthread_create(&l, 0, left, 0);
    pthread_create(&r, 0, right, 0);
    pthread_join(l, 0);
    pthread_join(r, 0);
    assert(seen_x || seen_y);
}
