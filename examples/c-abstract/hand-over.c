// A value is handed over through one place, for ever: what the consumer takes is what the producer put.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern unsigned __VERIFIER_nondet_uint(void);

atomic_int full;
unsigned item, copy;

void *producer(void *unused) {
    for (;;) {
        while (atomic_load(&full))
            ;
        item = __VERIFIER_nondet_uint();
        copy = item;
        atomic_store(&full, 1);
    }
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, producer, 0);
    for (;;) {
        while (!atomic_load(&full))
            ;
        assert(item == copy);
        atomic_store(&full, 0);
    }
}
