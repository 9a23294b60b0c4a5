/* BUG: each transfer locks its own account first, so two in opposite directions wait for one
 * another. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int balance[2] = {10, 10};

static void transfer(int from, int to) {
    pthread_mutex_lock(&locks[from]);
    pthread_mutex_lock(&locks[to]);
    balance[from]--;
    balance[to]++;
    pthread_mutex_unlock(&locks[to]);
    pthread_mutex_unlock(&locks[from]);
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
