/* Threads draw indices of an array and write there, as long as what they drew is inside. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SIZE 3

static int *array;
static atomic_int used;

static void *writer(void *unused) {
    for (int i = 0; i < 2; i++) {
        int index = atomic_fetch_add(&used, 1);
        if (index < SIZE)
            array[index] = 1;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    array = malloc(SIZE * sizeof *array);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, writer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    free(array);
}
