// A token goes round; who has it may use what is shared.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int token[3] = {1, 0, 0};
int used;

void *node0(void *unused) {
    for (;;) {
        if (atomic_exchange(&token[0], 0)) {
            assert(used == 0);
            used = 1;
            used = 0;
            atomic_store(&token[1], 1);
        }
    }
}

void *node1(void *unused) {
    for (;;) {
        if (atomic_exchange(&token[1], 0)) {
            assert(used == 0);
            used = 1;
            used = 0;
            atomic_store(&token[2], 1);
        }
    }
}

void *node2(void *unused) {
    for (;;) {
        if (atomic_exchange(&token[2], 0)) {
            assert(used == 0);
            used = 1;
            used = 0;
            atomic_store(&token[0], 1);
        }
    }
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, node0, 0);
    pthread_create(&threads[1], 0, node1, 0);
    node2(0);
    return 0;
}
