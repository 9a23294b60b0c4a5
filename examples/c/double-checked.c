/* Double-checked locking: the lock is only taken while there is no object yet. The pointer is
 * published with release and read with acquire. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef N
#define N 2
#endif

struct object {
    int value;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct object *) instance;

static struct object *get(void) {
    struct object *object = atomic_load_explicit(&instance, memory_order_acquire);
    if (!object) {
        pthread_mutex_lock(&mutex);
        object = atomic_load_explicit(&instance, memory_order_relaxed);
        if (!object) {
            object = malloc(sizeof *object);
            object->value = 42;
            atomic_store_explicit(&instance, object, memory_order_release);
        }
        pthread_mutex_unlock(&mutex);
    }
    return object;
}

static void *worker(void *unused) {
    assert(get()->value == 42);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    free(atomic_load(&instance));
}
