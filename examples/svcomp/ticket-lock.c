// A ticket lock; tickets are drawn in one step.
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
atomic_uint next, serving;
int n;

void *add(void *arg) {
  unsigned mine = atomic_fetch_add(&next, 1);

  while (atomic_load(&serving) != mine)
    ;
  n++;
  atomic_store(&serving, mine + 1);
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
