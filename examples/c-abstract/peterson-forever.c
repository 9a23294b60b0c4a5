// Peterson's algorithm, round after round without end.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int wants[2], turn;
int inside;

static void enter(int me) {
    atomic_store(&wants[me], 1);
    atomic_store(&turn, 1 - me);
    while (atomic_load(&wants[1 - me]) && atomic_load(&turn) == 1 - me)
        ;
    assert(inside == 0);
    inside = 1;
    inside = 0;
    atomic_store(&wants[me], 0);
}

void *other(void *unused) {
    for (;;)
        enter(1);
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    for (;;)
        enter(0);
}
