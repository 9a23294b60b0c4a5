// A thread doubles what it is handed; the input is even after that.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
extern int __VERIFIER_nondet_int(void);

void *twice(void *arg) {
  unsigned *p = arg;
  *p = *p * 2;
  return 0;
}

int main(void) {
  pthread_t t;
  unsigned x = (unsigned)__VERIFIER_nondet_int();
  unsigned before = x;
  pthread_create(&t, 0, twice, &x);
  pthread_join(t, 0);
  __VERIFIER_assert(x % 2 == 0);
  return 0;
}
