/* BUG: the pointer is looked at twice, and may be reset in between. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static int target;
static _Atomic(int *) pointer = &target;

static void *reader(void *unused) {
    if (atomic_load(&pointer))
        return *atomic_load(&pointer) ? &target : NULL;
    return NULL;
}

static void *resetter(void *unused) {
    atomic_store(&pointer, NULL);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, resetter, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
