// Store buffering: under interleaving semantics one of the two sees the other's store, unless one looks first.
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
atomic_int x, y;
int r, s;

void *left(void *arg) {
  r = y;
  x = 1;
  return 0;
}

void *right(void *arg) {
  y = 1;
  s = x;
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, left, 0);
  pthread_create(&b, 0, right, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  __VERIFIER_assert(r == 1 || s == 1);
  return 0;
}
