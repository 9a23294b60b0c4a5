// Two threads take slots of a table that inputs choose, and find them as they left them.
#include <assert.h>
#include <pthread.h>

#define SLOTS 4

extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);

struct slot {
    int used;
    int owner;
} slots[SLOTS];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take_and_leave(int self) {
    while (__VERIFIER_nondet_int()) {
        unsigned at = __VERIFIER_nondet_uint();
        if (at >= SLOTS)
            continue;
        pthread_mutex_lock(&lock);
        if (!slots[at].used) {
            slots[at].used = 1;
            slots[at].owner = self;
            pthread_mutex_unlock(&lock);
            pthread_mutex_lock(&lock);
            assert(slots[at].owner == self);
            slots[at].used = 0;
        }
        pthread_mutex_unlock(&lock);
    }
}

void *first(void *unused) {
    take_and_leave(1);
    return 0;
}

void *second(void *unused) {
    take_and_leave(2);
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
