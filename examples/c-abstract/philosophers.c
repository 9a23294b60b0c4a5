// Three philosophers eat as often as inputs want; nobody does while a neighbour does.
#include <assert.h>
#include <pthread.h>

#define COUNT 3

extern int __VERIFIER_nondet_int(void);

pthread_mutex_t forks[COUNT];
int eats[COUNT];

static void dine(int self, int first, int second) {
    while (__VERIFIER_nondet_int()) {
        pthread_mutex_lock(&forks[first]);
        pthread_mutex_lock(&forks[second]);
        eats[self] = 1;
        assert(!eats[(self + 1) % COUNT] && !eats[(self + 2) % COUNT]);
        eats[self] = 0;
        pthread_mutex_unlock(&forks[second]);
        pthread_mutex_unlock(&forks[first]);
    }
}

void *one(void *unused) {
    dine(0, 0, 1);
    return 0;
}

void *two(void *unused) {
    dine(1, 1, 2);
    return 0;
}

void *three(void *unused) {
    dine(2, 0, 2);
    return 0;
}

int main(void) {
    pthread_t a, b, c;
    for (int i = 0; i < COUNT; i++)
        pthread_mutex_init(&forks[i], 0);
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_create(&c, 0, three, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
