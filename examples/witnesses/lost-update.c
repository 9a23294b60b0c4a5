// Two threads add to a counter without a lock, as often as an input says: an update may get lost.
#include <pthread.h>

extern void abort(void);
extern int __VERIFIER_nondet_int(void);
void reach_error(void) { abort(); }
void assume_abort_if_not(int condition) {
  if (!condition)
    abort();
}

int count;
int step;

void *add(void *argument) {
  int seen = count;
  count = seen + step;
  return 0;
}

int main(void) {
  pthread_t first, second;
  step = __VERIFIER_nondet_int();
  assume_abort_if_not(0 < step && step < 10);
  pthread_create(&first, 0, add, 0);
  pthread_create(&second, 0, add, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
  if (count != 2 * step)
    reach_error();
  return 0;
}
