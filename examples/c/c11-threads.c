/* The threads of C11: a mutex, a condition variable, results of threads, thread-specific storage. */
#include <assert.h>
#include <stdlib.h>
#include <threads.h>

static mtx_t mutex;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static tss_t own;
static int turn;

static void initialise(void) {
    mtx_init(&mutex, mtx_plain);
    cnd_init(&changed);
    tss_create(&own, free);
}

/* Thread i goes when it is its turn. */
static int worker(void *argument) {
    int me = (int)(long)argument;
    call_once(&once, initialise);
    tss_set(own, malloc(1));
    mtx_lock(&mutex);
    while (turn != me)
        cnd_wait(&changed, &mutex);
    turn++;
    cnd_broadcast(&changed);
    mtx_unlock(&mutex);
    return me + 1;
}

int main(void) {
    thrd_t threads[2];
    int sum = 0;
    for (long i = 0; i < 2; i++)
        assert(thrd_create(&threads[i], worker, (void *)i) == thrd_success);
    for (int i = 0; i < 2; i++) {
        int result;
        thrd_join(threads[i], &result);
        sum += result;
    }
    assert(sum == 3 && turn == 2);
    cnd_destroy(&changed);
    mtx_destroy(&mutex);
}
