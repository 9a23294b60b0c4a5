/* A recursive mutex may be locked again by the thread that holds it. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex;
static int counter;

static void add(int times) {
    pthread_mutex_lock(&mutex);
    counter++;
    if (times > 1)
        add(times - 1);
    pthread_mutex_unlock(&mutex);
}

static void *worker(void *unused) {
    add(2);
    return NULL;
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 4);
    pthread_mutex_destroy(&mutex);
}
