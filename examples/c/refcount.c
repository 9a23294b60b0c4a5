/* Reference counting: whoever drops the last reference frees the object. A decrement releases what
 * was done with the object; the last one acquires it all. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef N
#define N 3
#endif

struct object {
    atomic_int references;
    int value;
};

static struct object *object;

static void drop(struct object *object) {
    if (atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) == 1)
        free(object);
}

static void *user(void *unused) {
    assert(object->value == 42);
    drop(object);
    return NULL;
}

int main(void) {
    object = malloc(sizeof *object);
    object->value = 42;
    atomic_init(&object->references, N);
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, user, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
}
