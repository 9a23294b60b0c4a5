// A writer writes while nobody reads.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

int readers, writing, data;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *first(void *unused) {
    while (__VERIFIER_nondet_int()) {
        pthread_mutex_lock(&lock);
        if (!writing)
            readers++;
        else {
            pthread_mutex_unlock(&lock);
            continue;
        }
        pthread_mutex_unlock(&lock);
        int seen = data;
        assert(seen == data);
        pthread_mutex_lock(&lock);
        readers--;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

void *second(void *unused) {
    while (__VERIFIER_nondet_int()) {
        pthread_mutex_lock(&lock);
        int may = readers == 0;
        if (may)
            writing = 1;
        pthread_mutex_unlock(&lock);
        if (!may)
            continue;
        data = __VERIFIER_nondet_int();
        pthread_mutex_lock(&lock);
        writing = 0;
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
