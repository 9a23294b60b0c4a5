// A counter by compare-and-swap, which tries again.
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
atomic_int n;

void *add(void *arg) {
  int old = atomic_load(&n);
  while (!atomic_compare_exchange_weak(&n, &old, old + 1))
    ;
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, add, 0);
  pthread_create(&b, 0, add, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  __VERIFIER_assert(n == 2);
  return 0;
}
