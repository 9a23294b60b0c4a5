/* BUG: `if` instead of `while`. Between the signal and the wake-up another consumer may take the
 * item; and threads may wake up for no reason at all. */
#include <assert.h>
#include <pthread.h>

#ifndef CONSUMERS
#define CONSUMERS 2
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static int items;

static void *producer(void *unused) {
    for (int i = 0; i < CONSUMERS; i++) {
        pthread_mutex_lock(&mutex);
        items++;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *consumer(void *unused) {
    pthread_mutex_lock(&mutex);
    if (items == 0)
        pthread_cond_wait(&not_empty, &mutex);
    items--;
    assert(items >= 0);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t threads[CONSUMERS + 1];
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&threads[i], NULL, consumer, NULL);
    pthread_create(&threads[CONSUMERS], NULL, producer, NULL);
    for (int i = 0; i <= CONSUMERS; i++)
        pthread_join(threads[i], NULL);
    assert(items == 0);
}
