// ask -p assert: 0 safe
// ask -p assert -DTWICE: 1 what another thread has set
#include <assert.h>
#include <pthread.h>

// What a thread says of its own cancellation is its own, and comes back when it says something else.
static void *other(void *arg) {
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
#ifdef TWICE
    assert(old == PTHREAD_CANCEL_DISABLE && "what another thread has set");
#else
    assert(old == PTHREAD_CANCEL_ENABLE);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    int old, kind;
    assert(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0);
    assert(old == PTHREAD_CANCEL_ENABLE);
    pthread_create(&thread, NULL, other, NULL);
    assert(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &kind) == 0);
    assert(kind == PTHREAD_CANCEL_DEFERRED);
    assert(pthread_setcanceltype(7, NULL) != 0);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &kind);
    assert(kind == PTHREAD_CANCEL_ASYNCHRONOUS);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    assert(old == PTHREAD_CANCEL_DISABLE);
    pthread_join(thread, NULL);
    return 0;
}
