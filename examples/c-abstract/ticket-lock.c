// Who has drawn the number that is served goes in.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_uint next, serving;
int inside;

static void once(void) {
    unsigned mine = atomic_fetch_add(&next, 1);
    while (atomic_load(&serving) != mine)
        ;
    assert(inside == 0);
    inside = 1;
    inside = 0;
    atomic_store(&serving, mine + 1);
}

void *first(void *unused) {
    once();
    once();
    return 0;
}

void *second(void *unused) {
    once();
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
