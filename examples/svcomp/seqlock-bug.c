// A reader of a sequence lock looks at the number only before.
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
atomic_int seq, a, b;

void *writer(void *arg) {
  seq++;
  a = 1;
  b = 1;
  seq++;
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  int before = seq, x = a, y = b;
  if (before % 2 == 0)
    __VERIFIER_assert(x == y);
  pthread_join(t, 0);
  return 0;
}
