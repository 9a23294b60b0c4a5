/* Bounded buffer with semaphores: one counts free slots, one counts items. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

#define SIZE 1
#ifndef ITEMS
#define ITEMS 3
#endif

static sem_t empty, full;
static int buffer[SIZE];

static void *producer(void *unused) {
    for (int i = 0; i < ITEMS; i++) {
        sem_wait(&empty);
        buffer[i % SIZE] = i;
        sem_post(&full);
    }
    return NULL;
}

static void *consumer(void *unused) {
    for (int i = 0; i < ITEMS; i++) {
        sem_wait(&full);
        assert(buffer[i % SIZE] == i);
        sem_post(&empty);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    sem_init(&empty, 0, SIZE);
    sem_init(&full, 0, 0);
    pthread_create(&threads[0], NULL, producer, NULL);
    pthread_create(&threads[1], NULL, consumer, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    sem_destroy(&empty);
    sem_destroy(&full);
}
