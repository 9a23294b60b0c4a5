/* Szymanski's mutual exclusion: threads gather in a waiting room whose door closes behind them.
 * 1 wants in, 2 waits for others, 3 stands at the door, 4 is past it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

static atomic_int flag[N];
static int counter;

static void lock(int me) {
    atomic_store(&flag[me], 1);
    for (int i = 0; i < N; i++)
        while (atomic_load(&flag[i]) >= 3)
            ;
    atomic_store(&flag[me], 3);
    for (int i = 0; i < N; i++) {
        if (i == me || atomic_load(&flag[i]) != 1)
            continue;
        atomic_store(&flag[me], 2);
        int open = 0;
        while (!open)
            for (int j = 0; j < N; j++)
                if (j != me && atomic_load(&flag[j]) == 4)
                    open = 1;
        break;
    }
    atomic_store(&flag[me], 4);
    for (int i = 0; i < me; i++)
        while (atomic_load(&flag[i]) >= 2)
            ;
}

static void unlock(int me) {
    for (int i = me + 1; i < N; i++)
        for (;;) {
            int other = atomic_load(&flag[i]);
            if (other <= 1 || other == 4)
                break;
        }
    atomic_store(&flag[me], 0);
}

static void *worker(void *argument) {
    int me = (int)(long)argument;
    lock(me);
    counter++;
    unlock(me);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N);
}
