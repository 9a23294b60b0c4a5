// A lock made of a function that is atomic by its name.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
void assume_abort_if_not(int cond) {
  if (!cond)
    abort();
}
int held, n;

void __VERIFIER_atomic_acquire(void) {
  assume_abort_if_not(held == 0);
  held = 1;
}

void __VERIFIER_atomic_release(void) {
  held = 0;
}

void *add(void *arg) {
  __VERIFIER_atomic_acquire();
  n++;
  __VERIFIER_atomic_release();
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, add, 0);
  __VERIFIER_atomic_acquire();
  n++;
  __VERIFIER_atomic_release();
  pthread_join(t, 0);
  __VERIFIER_assert(n == 2);
  return 0;
}
