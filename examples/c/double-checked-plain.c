/* BUG: double-checked locking with an ordinary pointer. The first look at it races with the store
 * under the lock, and may find the object before its content. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef N
#define N 2
#endif

struct object {
    int value;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct object *instance;

static struct object *get(void) {
    struct object *object = instance;
    if (!object) {
        pthread_mutex_lock(&mutex);
        object = instance;
        if (!object) {
            object = malloc(sizeof *object);
            object->value = 42;
            instance = object;
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
    free(instance);
}
