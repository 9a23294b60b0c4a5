// An atomic function that returns early on one way.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
int n, limit = 1;

int __VERIFIER_atomic_take(void) {
  if (n >= limit)
    return 0;
  n++;
  return 1;
}

void *taker(void *arg) {
  __VERIFIER_atomic_take();
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, taker, 0);
  pthread_create(&b, 0, taker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  __VERIFIER_assert(n <= limit);
  return 0;
}
