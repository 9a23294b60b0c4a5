// Two threads raise their flags and look at the other's; both look first.
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
atomic_int a, b, inside;

void *left(void *arg) {
  if (!b) {
    a = 1;
    __VERIFIER_assert(inside++ == 0);
    inside--;
  }

  return 0;
}

void *right(void *arg) {
  if (!a) {
    b = 1;
    __VERIFIER_assert(inside++ == 0);
    inside--;
  }

  return 0;
}

int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, left, 0);
  pthread_create(&t, 0, right, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return 0;
}
