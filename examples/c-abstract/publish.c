// Data are there before they are said to be.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern int __VERIFIER_nondet_int(void);

int data;
atomic_int ready;

void *first(void *unused) {
    int input = __VERIFIER_nondet_int();
    if (input == 0)
        input = 1;
    data = input;
    atomic_store(&ready, 1);
    return 0;
}

void *second(void *unused) {
    while (!atomic_load(&ready))
        ;
    while (__VERIFIER_nondet_int())
        assert(data != 0);
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
