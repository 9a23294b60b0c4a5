/* Thread-specific data: every thread stores a buffer under the same key, and the destructor frees
 * it when the thread ends. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef N
#define N 2
#endif

static pthread_key_t key;

static void *worker(void *argument) {
    int *buffer = malloc(sizeof *buffer);
    *buffer = (int)(long)argument;
    pthread_setspecific(key, buffer);
    assert(pthread_getspecific(key) == buffer);
    assert(*(int *)pthread_getspecific(key) == (int)(long)argument);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    pthread_key_create(&key, free);
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(!pthread_getspecific(key));
    pthread_key_delete(key);
}
