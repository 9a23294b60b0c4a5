/* Waiting for a flag in a loop: the loop ends, because the flag is set in the end. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_bool ready;
static int data;

static void *producer(void *unused) {
    data = 42;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return NULL;
}

static void *consumer(void *unused) {
    while (!atomic_load_explicit(&ready, memory_order_acquire))
        ;
    assert(data == 42);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, producer, NULL);
    pthread_create(&threads[1], NULL, consumer, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
