// BUG: of Dekker's algorithm, whoever waits goes on wanting, and looks at the turn alone.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern int __VERIFIER_nondet_int(void);

atomic_int wants[2], turn;
int inside;

static void rounds(int me) {
    while (__VERIFIER_nondet_int()) {
        atomic_store(&wants[me], 1);
        if (atomic_load(&wants[1 - me]))
            while (atomic_load(&turn) != me)
                ;
        assert(inside == 0);
        inside = 1;
        inside = 0;
        atomic_store(&turn, 1 - me);
        atomic_store(&wants[me], 0);
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
