// As many threads as an input says, in an array, share a counter that is not atomic.
#include <pthread.h>
#include <stdlib.h>
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
int hits;

void *worker(void *arg) {
  hits++;
  return 0;
}

int main(void) {
  int n = __VERIFIER_nondet_int();
  if (n < 2) {
    abort();
  }
  pthread_t *threads = malloc(n * sizeof(pthread_t));
  for (int i = 0; i < n; i++) {
    pthread_create(&threads[i], 0, worker, 0);
  }
  for (int i = 0; i < n; i++) {
    pthread_join(threads[i], 0);
  }
  free(threads);
  return 0;
}
