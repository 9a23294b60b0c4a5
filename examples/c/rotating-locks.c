/* N threads look under a lock whose turn it is, and whoever sees its own number sets the next one. Those
 * who only look come in no order among one another. */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 5
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int turn;

static void *worker(void *argument) {
    int me = (int)(long)argument;
    pthread_mutex_lock(&mutex);
    if (turn == me)
        turn = me + 1;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(1 <= turn && turn <= N);
}
