/* BUG: the sum of what the threads add does not fit. Overflow of signed numbers is undefined in C,
 * whatever the machine does. */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int first, second;

static void *writer(void *unused) {
    atomic_store(&first, INT_MAX);
    atomic_store(&second, 1);
    return NULL;
}

static void *reader(void *unused) {
    int b = atomic_load(&second);
    int a = atomic_load(&first);
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
