// The consumer waits for a condition in a loop; it may wake up for no reason.
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
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int full, value;

void *producer(void *arg) {
  pthread_mutex_lock(&m);
  value = 9;
  full = 1;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&m);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, producer, 0);
  pthread_mutex_lock(&m);
  while (!full)
    pthread_cond_wait(&c, &m);
  __VERIFIER_assert(value == 9);
  pthread_mutex_unlock(&m);
  pthread_join(t, 0);
  return 0;
}
