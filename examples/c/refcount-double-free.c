/* BUG: the decrement and the look at the result are two steps: two threads both see that nobody is
 * left, and both free the object. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef N
#define N 2
#endif

struct object {
    atomic_int references;
    int value;
};

static struct object *object;

static void drop(struct object *object) {
    atomic_fetch_sub(&object->references, 1);
    if (atomic_load(&object->references) == 0)
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
