/* Recursive spin lock: the owner may take it again, and only the last unlock gives it back. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int owner;
static int depth, counter;

static void lock(int me) {
    if (atomic_load_explicit(&owner, memory_order_relaxed) != me) {
        int nobody = 0;
        while (!atomic_compare_exchange_weak_explicit(&owner, &nobody, me, memory_order_acquire,
                                                      memory_order_relaxed))
            nobody = 0;
    }
    depth++;
}

static void unlock(void) {
    if (--depth == 0)
        atomic_store_explicit(&owner, 0, memory_order_release);
}

static void add(int me, int times) {
    lock(me);
    counter++;
    if (times > 1)
        add(me, times - 1);
    unlock();
}

static void *worker(void *argument) {
    add((int)(long)argument, 2);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 2 * N && depth == 0);
}
