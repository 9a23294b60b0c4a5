// A writer fills in the data, then raises a flag. Is the data there when the flag is seen?
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int data, flag;

static void *writer(void *unused)
{
    atomic_store_explicit(&data, 42, memory_order_relaxed);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return 0;
}

static void *reader(void *unused)
{
    while (!atomic_load_explicit(&flag, memory_order_acquire))
        ;
    int seen = atomic_load_explicit(&data, memory_order_relaxed);
    assert(seen == 42);
    return 0;
}

int main(void)
{
    pthread_t w, r;
    pthread_create(&w, 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
}
