// BUG: who hits back counts down to zero.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int ball;
int hits;

void *first(void *unused) {
    for (;;) {
        while (atomic_load(&ball) != 0)
            ;
        hits++;
        assert(hits <= 1);
        atomic_store(&ball, 1);
    }
    return 0;
}

void *second(void *unused) {
    for (;;) {
        while (atomic_load(&ball) != 1)
            ;
        hits--;
        assert(hits > 0);
        atomic_store(&ball, 0);
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
