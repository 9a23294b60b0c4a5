/* Read, copy, update: readers follow a pointer between two marks; the writer publishes a new object
 * and frees the old one when every reader has been seen outside. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef READERS
#define READERS 2
#endif

struct config {
    int left, right;
};

static _Atomic(struct config *) current;
static atomic_bool inside[READERS];

static struct config *new_config(int value) {
    struct config *config = malloc(sizeof *config);
    config->left = config->right = value;
    return config;
}

static void wait_for_readers(void) {
    for (int i = 0; i < READERS; i++)
        while (atomic_load(&inside[i]))
            ;
}

static void *reader(void *argument) {
    int me = (int)(long)argument;
    atomic_store(&inside[me], 1);
    struct config *config = atomic_load(&current);
    assert(config->left == config->right);
    atomic_store_explicit(&inside[me], 0, memory_order_release);
    return NULL;
}

static void *writer(void *unused) {
    struct config *old = atomic_exchange(&current, new_config(2));
    wait_for_readers();
    free(old);
    return NULL;
}

int main(void) {
    atomic_init(&current, new_config(1));
    pthread_t threads[READERS + 1];
    for (long i = 0; i < READERS; i++)
        pthread_create(&threads[i], NULL, reader, (void *)i);
    pthread_create(&threads[READERS], NULL, writer, NULL);
    for (int i = 0; i <= READERS; i++)
        pthread_join(threads[i], NULL);
    free(atomic_load(&current));
}
