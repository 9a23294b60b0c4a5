// Three threads move an index around a ring.
// BUG: it may come to be as large as the ring.
#include <pthread.h>
extern void abort(void);
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
  at = (here + 4) % 9;
  return 0;
}

int main(void) {
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
  }
  return 0;
}
