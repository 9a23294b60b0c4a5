/* The sum may not fit, but it is one of unsigned numbers, which wrap around. */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint first, second;

static void *writer(void *unused) {
    atomic_store(&first, UINT_MAX);
    atomic_store(&second, 1);
    return NULL;
}

static void *reader(void *unused) {
    unsigned b = atomic_load(&second);
    unsigned a = atomic_load(&first);
    atomic_store(&second, a + b);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
