/* BUG: the producer gives up without setting the flag, and the consumer spins for ever. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_bool ready, cancelled;

static void *producer(void *unused) {
    if (!atomic_load(&cancelled))
        atomic_store(&ready, 1);
    return NULL;
}

static void *consumer(void *unused) {
    while (!atomic_load(&ready))
        ;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, producer, NULL);
    pthread_create(&threads[1], NULL, consumer, NULL);
    atomic_store(&cancelled, 1);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
