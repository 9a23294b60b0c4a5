/* BUG: the barrier opens for one thread less than there are, so a thread may read a cell that its
 * neighbour is still writing. */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 2
#endif

static pthread_barrier_t barrier;
static int cells[N];

static void *worker(void *argument) {
    int me = (int)(long)argument;
    cells[me] = me + 1;
    pthread_barrier_wait(&barrier);
    int neighbour = (me + 1) % N;
    assert(cells[neighbour] == neighbour + 1);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    pthread_barrier_init(&barrier, NULL, N - 1);
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
}
