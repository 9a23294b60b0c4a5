// Three more than the largest bound that there may be.
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int bound;

void *worker(void *arg) {
  int i;
  pthread_mutex_lock(&m);
  for (i = 0; i < bound; i++)
    if (__VERIFIER_nondet_int())
      break;
  bound = bound + 3;
  pthread_mutex_unlock(&m);
  return 0;
}

int main(void) {
  bound = __VERIFIER_nondet_int();
  while (__VERIFIER_nondet_int()) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
  }
  return 0;
}
