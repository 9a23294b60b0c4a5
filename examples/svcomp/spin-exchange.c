// A spin lock by exchange; the release is a store.
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
atomic_int lock;
int n;

void *add(void *arg) {
  while (atomic_exchange(&lock, 1))
    ;
  n++;
  atomic_store(&lock, 0);
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
