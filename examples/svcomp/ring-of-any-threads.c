// Any number of threads move an index around a ring; it never leaves it.
#include <pthread.h>
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
unsigned at;
unsigned ring[8];

void *worker(void *arg) {
  unsigned here = at;
  __VERIFIER_assert(here < 8);
  ring[here]++;
  at = (here + 4) % 8;
  return 0;
}

int main(void) {
  while (__VERIFIER_nondet_int()) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
  }
  return 0;
}
