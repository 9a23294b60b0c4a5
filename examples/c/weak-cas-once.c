/* BUG: each thread tries once to take the seat. A weak compare-and-swap may fail though nobody sits
   there, so that in the end it may be free. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

static atomic_int seat;

static void *sit(void *argument) {
    int nobody = 0;
    atomic_compare_exchange_weak(&seat, &nobody, (int)(long)argument);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, sit, (void *)(i + 1));
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(seat != 0);
}
