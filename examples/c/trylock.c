/* Two locks taken in opposite orders without deadlock: whoever cannot get its second lock gives up
 * the first. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int done;

static void *worker(void *argument) {
    int first = (int)(long)argument;
    pthread_mutex_lock(&locks[first]);
    int result = pthread_mutex_trylock(&locks[1 - first]);
    if (result == 0) {
        done++;
        pthread_mutex_unlock(&locks[1 - first]);
    } else {
        assert(result == EBUSY);
    }
    pthread_mutex_unlock(&locks[first]);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, worker, (void *)0L);
    pthread_create(&threads[1], NULL, worker, (void *)1L);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert(done <= 2);
}
