/* Lamport's bakery: draw a number larger than all others, and wait for those with smaller ones. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

static atomic_bool choosing[N];
static atomic_int number[N];
static int counter;

static void lock(int me) {
    atomic_store(&choosing[me], 1);
    int largest = 0;
    for (int i = 0; i < N; i++) {
        int other = atomic_load(&number[i]);
        if (other > largest)
            largest = other;
    }
    int mine = largest + 1;
    atomic_store(&number[me], mine);
    atomic_store(&choosing[me], 0);
    for (int i = 0; i < N; i++) {
        if (i == me)
            continue;
        while (atomic_load(&choosing[i]))
            ;
        for (;;) {
            int other = atomic_load(&number[i]);
            if (other == 0 || other > mine || (other == mine && i > me))
                break;
        }
    }
}

static void unlock(int me) {
    atomic_store(&number[me], 0);
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
