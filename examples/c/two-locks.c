/* Transfers between two accounts, each with its own lock: always the lower-numbered lock first. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int balance[2] = {10, 10};

static void transfer(int from, int to) {
    int first = from < to ? from : to;
    pthread_mutex_lock(&locks[first]);
    pthread_mutex_lock(&locks[1 - first]);
    balance[from]--;
    balance[to]++;
    pthread_mutex_unlock(&locks[1 - first]);
    pthread_mutex_unlock(&locks[first]);
}

static void *there(void *unused) {
    transfer(0, 1);
    return NULL;
}

static void *back(void *unused) {
    transfer(1, 0);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, there, NULL);
    pthread_create(&threads[1], NULL, back, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert(balance[0] == 10 && balance[1] == 10);
}
