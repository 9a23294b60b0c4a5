// BUG: the turn is given away before the work is done.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int turn;
int inside;

static void rounds(int me) {
    for (;;) {
        while (atomic_load(&turn) != me)
            ;
        atomic_store(&turn, 1 - me);
        inside++;
        assert(inside == 1);
        inside--;
    }
}

void *first(void *unused) {
    rounds(0);
    return 0;
}

void *second(void *unused) {
    rounds(1);
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
