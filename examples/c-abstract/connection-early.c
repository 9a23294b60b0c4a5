// BUG: a connection is said to be open before its buffer is there.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern int __VERIFIER_nondet_int(void);

enum { CLOSED, OPENING, OPEN };
atomic_int state;
int buffer;

void *first(void *unused) {
    for (;;) {
        int closed = CLOSED;
        if (!atomic_compare_exchange_strong(&state, &closed, OPENING))
            continue;
        atomic_store(&state, OPEN);
        buffer = 1;
        while (__VERIFIER_nondet_int())
            ;
        int open = OPEN;
        if (atomic_compare_exchange_strong(&state, &open, OPENING)) {
            buffer = 0;
            atomic_store(&state, CLOSED);
        }
    }
    return 0;
}

void *second(void *unused) {
    for (;;) {
        int open = OPEN;
        if (!atomic_compare_exchange_strong(&state, &open, OPENING))
            continue;
        assert(buffer == 1);
        atomic_store(&state, OPEN);
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
