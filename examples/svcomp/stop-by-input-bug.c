// Two threads that tell one another when to stop, for as long as inputs have it.
#include <pthread.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int holds) {
  if (!holds) {
    reach_error();
    abort();
  }
}
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
_Atomic _Bool stop, enough;
_Atomic int count, seen;

void *counter(void *arg) {
  while (!stop) {
    __VERIFIER_atomic_begin();
    if (count < 3)
      count++;
    seen = 1;
    __VERIFIER_atomic_end();
    if (__VERIFIER_nondet_bool())
      enough = 1;
  }
  return 0;
}

void *guard(void *arg) {
  while (!enough)
    stop = __VERIFIER_nondet_bool();
  stop = 1;
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, counter, 0);
  pthread_create(&b, 0, guard, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  __VERIFIER_assert(!seen || count < 3);
  return 0;
}
