/* Mutual exclusion of N threads by N - 1 gates (G. L. Peterson, Myths about the mutual exclusion
 * problem, 1981). */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int gate_of[N], last_at[N];
static int counter;

static int is_someone_ahead(int me, int gate) {
    for (int other = 0; other < N; other++)
        if (other != me && atomic_load(&gate_of[other]) >= gate)
            return 1;
    return 0;
}

static void lock(int me) {
    for (int gate = 1; gate < N; gate++) {
        atomic_store(&gate_of[me], gate);
        atomic_store(&last_at[gate], me);
        while (atomic_load(&last_at[gate]) == me && is_someone_ahead(me, gate))
            ;
    }
}

static void *worker(void *argument) {
    int me = (int)(long)argument;
    lock(me);
    int before = counter;
    counter = before + 1;
    assert(counter == before + 1);
    atomic_store(&gate_of[me], 0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    for (long i = 0; i < N; i++)
        pthread_create(&thread, NULL, worker, (void *)i);
}
