/* BUG: the cache is filled under the read lock, which two threads may hold at once. */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 2
#endif

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int is_known, value, computed;

static int get(void) {
    pthread_rwlock_rdlock(&lock);
    int known = is_known, result = value;
    pthread_rwlock_unlock(&lock);
    if (known)
        return result;
    pthread_rwlock_rdlock(&lock);
    if (!is_known) {
        computed++;
        value = 42;
        is_known = 1;
    }
    result = value;
    pthread_rwlock_unlock(&lock);
    return result;
}

static void *worker(void *unused) {
    assert(get() == 42);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(computed == 1);
    pthread_rwlock_destroy(&lock);
}
