/* One-time initialisation. */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 3
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int value, calls;

static void initialise(void) {
    calls++;
    value = 42;
}

static void *worker(void *unused) {
    pthread_once(&once, initialise);
    assert(value == 42);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(calls == 1);
}
