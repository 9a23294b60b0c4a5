/* Lamport's bakery for two threads, with release stores and acquire loads, but no fence between
 * taking a number and looking at the other's. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef FIRST
#define FIRST ROUNDS
#endif
#ifndef SECOND
#define SECOND ROUNDS
#endif

static atomic_int choosing[2], number[2];
static int counter;

static void lock(int me) {
    int other = 1 - me;
    atomic_store_explicit(&choosing[me], 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    int mine = atomic_load_explicit(&number[other], memory_order_acquire) + 1;
    atomic_store_explicit(&number[me], mine, memory_order_release);
    atomic_store_explicit(&choosing[me], 0, memory_order_release);
    while (atomic_load_explicit(&choosing[other], memory_order_acquire))
        ;
    for (;;) {
        int theirs = atomic_load_explicit(&number[other], memory_order_acquire);
        if (theirs == 0 || theirs > mine || (theirs == mine && other > me))
            break;
    }
}

static void unlock(int me) {
    atomic_store_explicit(&number[me], 0, memory_order_release);
}

static void *worker(void *argument) {
    int me = (int)(long)argument;
    for (int i = 0; i < (me == 0 ? FIRST : SECOND); i++) {
        lock(me);
        counter++;
        unlock(me);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counter == FIRST + SECOND);
}
