/* Two writers fill in a cell each, show their progress ROUNDS times, and report; the reader goes on
 * when both have. The report does not publish the cell. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef ROUNDS
#define ROUNDS 1
#endif

static int cells[2];
static atomic_int progress[2], reported;

static void *writer(void *argument) {
    long me = (long)argument;
    cells[me] = 1;
    for (int i = 1; i <= ROUNDS; i++)
        atomic_store_explicit(&progress[me], i, memory_order_relaxed);
    atomic_fetch_add_explicit(&reported, 1, memory_order_relaxed);
    return NULL;
}

static void *reader(void *unused) {
    atomic_load_explicit(&progress[0], memory_order_relaxed);
    atomic_load_explicit(&progress[1], memory_order_relaxed);
    while (atomic_load_explicit(&reported, memory_order_acquire) != 2)
        ;
    assert(cells[0] == 1 && cells[1] == 1);
    return NULL;
}

int main(void) {
    pthread_t writers[2], last;
    for (long i = 0; i < 2; i++)
        pthread_create(&writers[i], NULL, writer, (void *)i);
    pthread_create(&last, NULL, reader, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(writers[i], NULL);
    pthread_join(last, NULL);
}
