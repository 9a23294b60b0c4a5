/* BUG: one thread locks and another one unlocks. A mutex belongs to the thread that took it. */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *stranger(void *unused) {
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, stranger, NULL);
    pthread_join(thread, NULL);
}
