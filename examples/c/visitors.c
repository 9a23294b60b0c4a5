/* N visitors are counted, each by as much as it brings along. Nobody looks at the sum before all have
 * come. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 6
#endif

static atomic_int visitors;

static void *visitor(void *argument) {
    atomic_fetch_add(&visitors, (int)(long)argument);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, visitor, (void *)(i + 1));
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(visitors == N * (N + 1) / 2);
}
