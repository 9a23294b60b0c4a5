/* Peterson's lock: each of two threads raises its flag, leaves the turn to the other one, and then goes in up to N times, as long as it is
 * free to. 6 N + 1 views. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef N
#define N 3
#endif

static atomic_int flag[2], turn;

static void enter(int own) {
    flag[own] = 1;
    turn = 1 - own;
    for (int i = 0; i < N; i++) {
        int is_raised = flag[1 - own];
        int whose = turn;
        if (is_raised && whose == 1 - own)
            break;
    }
}

static void *left(void *unused) {
    enter(0);
    return unused;
}

static void *right(void *unused) {
    enter(1);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, left, NULL);
    pthread_create(&second, NULL, right, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
}
