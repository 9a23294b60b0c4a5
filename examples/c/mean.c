/* The count is stored last and looked at first, so the mean is never a division by zero. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int sum, count, mean;

static void *writer(void *unused) {
    atomic_store(&sum, 10);
    atomic_store(&count, 2);
    return NULL;
}

static void *reader(void *unused) {
    int n = atomic_load(&count);
    if (n > 0)
        atomic_store(&mean, atomic_load(&sum) / n);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
