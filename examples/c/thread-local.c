/* Each thread has its own copy of a thread-local variable, so nobody needs a lock. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static _Thread_local int mine = 1;
static atomic_int total;

static void *worker(void *argument) {
    mine += (int)(long)argument;
    atomic_fetch_add_explicit(&total, mine, memory_order_relaxed);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(mine == 1);
    assert(atomic_load(&total) == N + N * (N - 1) / 2);
}
