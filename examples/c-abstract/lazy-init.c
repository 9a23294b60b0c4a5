// Whoever comes first makes the value, once; each thread comes as often as it likes.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

int value, ready, made;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int get(void) {
    pthread_mutex_lock(&lock);
    if (!ready) {
        value = 42;
        made++;
        ready = 1;
    }
    int result = value;
    pthread_mutex_unlock(&lock);
    return result;
}

void *user(void *unused) {
    while (__VERIFIER_nondet_int()) {
        int got = get();
        assert(got == 42);
        assert(made == 1);
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, user, 0);
    pthread_create(&two, 0, user, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
