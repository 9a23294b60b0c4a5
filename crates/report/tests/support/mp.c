// Message passing, as the executions that are written by hand have it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, flag;
static void *writer(void *unused)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return 0;
}
static void *reader(void *unused)
{
    while (!atomic_load_explicit(&flag, memory_order_relaxed))
        ;
    assert(atomic_load_explicit(&x, memory_order_relaxed) == 1);
    return 0;
}
int main(void)
{
    pthread_t w, r;
    pthread_create(&w, 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
}
