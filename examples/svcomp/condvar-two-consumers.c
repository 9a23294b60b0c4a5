// Two consumers and one item: who wakes up looks whether it is still there.
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
int items, closed;

void *consumer(void *arg) {
  pthread_mutex_lock(&m);
  while (items == 0 && !closed)
    pthread_cond_wait(&c, &m);
  if (items > 0) {
    items--;
    __VERIFIER_assert(items >= 0);
  }
  pthread_mutex_unlock(&m);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, consumer, 0);
  pthread_create(&b, 0, consumer, 0);
  pthread_mutex_lock(&m);
  items = 1;
  closed = 1;
  pthread_cond_broadcast(&c);
  pthread_mutex_unlock(&m);
  pthread_mutex_lock(&m);
  closed = 1;
  pthread_cond_broadcast(&c);
  pthread_mutex_unlock(&m);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
