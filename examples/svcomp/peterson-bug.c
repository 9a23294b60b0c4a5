// Peterson's algorithm for two threads: each gives the turn to itself.
#include <pthread.h>
#include <stdatomic.h>
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
atomic_int want0, want1, turn, inside;

void *zero(void *arg) {
  want0 = 1;
  turn = 0;
  while (want1 && turn == 1)
    ;
  __VERIFIER_assert(inside++ == 0);
  inside--;
  want0 = 0;
  return 0;
}

void *one(void *arg) {
  want1 = 1;
  turn = 1;
  while (want0 && turn == 0)
    ;
  __VERIFIER_assert(inside++ == 0);
  inside--;
  want1 = 0;
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, zero, 0);
  pthread_create(&b, 0, one, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
