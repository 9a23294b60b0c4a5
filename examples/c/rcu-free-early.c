/* BUG: the old object is freed without waiting for the readers that may have found it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef READERS
#define READERS 1
#endif

struct config {
    int left, right;
};

static _Atomic(struct config *) current;

static struct config *new_config(int value) {
    struct config *config = malloc(sizeof *config);
    config->left = config->right = value;
    return config;
}

static void *reader(void *unused) {
    struct config *config = atomic_load(&current);
    assert(config->left == config->right);
    return NULL;
}

static void *writer(void *unused) {
    struct config *old = atomic_exchange(&current, new_config(2));
    free(old);
    return NULL;
}

int main(void) {
    atomic_init(&current, new_config(1));
    pthread_t threads[READERS + 1];
    for (int i = 0; i < READERS; i++)
        pthread_create(&threads[i], NULL, reader, NULL);
    pthread_create(&threads[READERS], NULL, writer, NULL);
    for (int i = 0; i <= READERS; i++)
        pthread_join(threads[i], NULL);
    free(atomic_load(&current));
}
