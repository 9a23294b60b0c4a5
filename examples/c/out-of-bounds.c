/* BUG: the bound is checked before the index is drawn. Two threads may both find room for one, and
 * the second writes behind the end of the array. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SIZE 3

static int *array;
static atomic_int used;

static void *writer(void *unused) {
    for (int i = 0; i < 2; i++)
        if (atomic_load(&used) < SIZE)
            array[atomic_fetch_add(&used, 1)] = 1;
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
