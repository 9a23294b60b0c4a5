/* A test-and-test-and-set lock that waits longer and longer: loops in a loop. Whoever is inside finds
 * the flag clear, and nobody waits longer than there is a limit for. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <verifier.h>

#define LONGEST 8

static atomic_int lock, inside;

static void *worker(void *unused) {
    int delay = 1;
    while (atomic_exchange(&lock, 1) == 1) {
        __PARALLAX_invariant(delay >= 1 && delay <= LONGEST);
        while (atomic_load(&lock) == 1)
            ;
        if (delay < LONGEST)
            delay++;
    }
    assert(delay <= LONGEST);
    assert(atomic_load(&inside) == 0);
    atomic_store(&inside, 1);
    atomic_store(&inside, 0);
    atomic_store(&lock, 0);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
