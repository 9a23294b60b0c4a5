// A queue of four, by a head and a count.
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

unsigned slots[4], head, count;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *first(void *unused) {
    while (__VERIFIER_nondet_uint()) {
        pthread_mutex_lock(&lock);
        if (count < 4)
            count++;
        assert(count <= 4);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

void *second(void *unused) {
    while (__VERIFIER_nondet_uint()) {
        pthread_mutex_lock(&lock);
        if (count > 0) {
            count--;
            head = head == 3 ? 0 : head + 1;
        }
        assert(head < 4);
        slots[head] = 0;
        pthread_mutex_unlock(&lock);
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
