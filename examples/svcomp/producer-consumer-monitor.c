// One cell between a producer and a consumer, both wait.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int full, cell;

void *producer(void *arg) {
  for (int i = 1; i <= 2; i++) {
    pthread_mutex_lock(&m);
    while (full)
      pthread_cond_wait(&changed, &m);
    cell = i;
    full = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&m);
  }
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, producer, 0);
  for (int i = 1; i <= 2; i++) {
    pthread_mutex_lock(&m);
    while (!full)
      pthread_cond_wait(&changed, &m);
    __VERIFIER_assert(cell == i);
    full = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&m);
  }
  pthread_join(t, 0);
  return 0;
}
