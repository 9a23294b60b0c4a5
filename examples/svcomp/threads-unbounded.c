// As many threads as an input says, all under a lock.
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int n;

void *work(void *arg) {
  pthread_mutex_lock(&m);
  n = 1;
  pthread_mutex_unlock(&m);
  return 0;
}

int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, work, 0);
  pthread_mutex_lock(&m);
  n = 2;
  pthread_mutex_unlock(&m);
  return 0;
}
