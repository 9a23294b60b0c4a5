/* Hazard pointer (Michael): a reader announces what it is about to use, and looks again; the writer
 * frees the old object only when nobody announces it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct config {
    int left, right;
};

static _Atomic(struct config *) current, hazard;

static struct config *new_config(int value) {
    struct config *config = malloc(sizeof *config);
    config->left = config->right = value;
    return config;
}

static void *reader(void *unused) {
    struct config *config;
    do {
        config = atomic_load_explicit(&current, memory_order_relaxed);
        atomic_store(&hazard, config);
    } while (atomic_load(&current) != config);
    assert(config->left == config->right);
    atomic_store_explicit(&hazard, NULL, memory_order_release);
    return NULL;
}

static void *writer(void *unused) {
    struct config *old = atomic_exchange(&current, new_config(2));
    while (atomic_load(&hazard) == old)
        ;
    free(old);
    return NULL;
}

int main(void) {
    atomic_init(&current, new_config(1));
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, writer, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    free(atomic_load(&current));
}
