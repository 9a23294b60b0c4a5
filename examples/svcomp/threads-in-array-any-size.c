// As many threads as an input says, in an array, share an atomic counter.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
atomic_int hits;

void *worker(void *arg) {
  hits++;
  return 0;
}

int main(void) {
  int n = __VERIFIER_nondet_int();
  if (n < 1) {
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
