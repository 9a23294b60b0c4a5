// The first thread writes behind the ring.
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
unsigned at;
int ring[8];

void *worker(void *arg) {
  pthread_mutex_lock(&m);
  at = (at + 7) % 8;
  ring[at + 1] = 1;
  pthread_mutex_unlock(&m);
  return 0;
}

int main(void) {
  while (__VERIFIER_nondet_int()) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
  }
  return 0;
}
