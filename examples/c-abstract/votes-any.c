// BUG: one vote is enough for a decision that takes both.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

enum { OPEN, AGAINST, FOR } first, second, decision, heard_by_one, heard_by_two;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void *one(void *unused) {
    int agrees = __VERIFIER_nondet_int();
    pthread_mutex_lock(&lock);
    first = agrees ? FOR : AGAINST;
    pthread_cond_broadcast(&changed);
    while (decision == OPEN)
        pthread_cond_wait(&changed, &lock);
    heard_by_one = decision;
    if (heard_by_one == FOR)
        assert(first == FOR && second == FOR);
    pthread_mutex_unlock(&lock);
    return 0;
}

void *two(void *unused) {
    int agrees = __VERIFIER_nondet_int();
    pthread_mutex_lock(&lock);
    second = agrees ? FOR : AGAINST;
    pthread_cond_broadcast(&changed);
    while (decision == OPEN)
        pthread_cond_wait(&changed, &lock);
    heard_by_two = decision;
    if (heard_by_two == FOR)
        assert(first == FOR && second == FOR);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_mutex_lock(&lock);
    while (first == OPEN || second == OPEN)
        pthread_cond_wait(&changed, &lock);
    decision = first == FOR || second == FOR ? FOR : AGAINST;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(heard_by_one == heard_by_two);
    return 0;
}
