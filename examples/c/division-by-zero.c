/* BUG: the sum may be there before the count, and then the mean is a division by zero. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int sum, count, mean;

static void *writer(void *unused) {
    atomic_store(&sum, 10);
    atomic_store(&count, 2);
    return NULL;
}

static void *reader(void *unused) {
    if (atomic_load(&sum) > 0)
        atomic_store(&mean, atomic_load(&sum) / atomic_load(&count));
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
