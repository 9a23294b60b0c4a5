// Threads go on for ever, always under the lock.
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
extern int __VERIFIER_nondet_int(void);
int shared;

void *worker(void *arg) {
  while (1) {
    pthread_mutex_lock(&m);
    shared = shared ^ 1;
    pthread_mutex_unlock(&m);
  }
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, worker, 0);
  while (__VERIFIER_nondet_int()) {
    pthread_mutex_lock(&m);
    shared = 0;
    pthread_mutex_unlock(&m);
  }
  return 0;
}
