// Nobody begins a phase before both have ended the last one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int phase[2];

static void go(int me) {
    int mine = 0;
    while (mine < 3) {
        mine++;
        atomic_store(&phase[me], mine);
        while (atomic_load(&phase[1 - me]) < mine)
            ;
        assert(atomic_load(&phase[1 - me]) >= mine);
    }
}

void *first(void *unused) {
    go(0);
    return 0;
}

void *second(void *unused) {
    go(1);
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
