//! => sc: safe; tso: safe
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
int value;

static void *producer(void *arg) {
  pthread_mutex_lock(&mutex);
  value = *(int *)arg;
  pthread_cond_signal(&ready);
  pthread_mutex_unlock(&mutex);
  return 0;
}

int main(void) {
  pthread_t thread;
  int seven = 7;
  pthread_create(&thread, 0, producer, &seven);
  pthread_mutex_lock(&mutex);
  while (!value)
    pthread_cond_wait(&ready, &mutex);
  assert(value == 7);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, 0);
  return 0;
}
