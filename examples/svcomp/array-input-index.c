// Threads write to cells that inputs choose; they are different.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
extern unsigned __VERIFIER_nondet_uint(void);
int a[4];
unsigned i, j;

void *first(void *arg) {
  a[i] = 1;
  return 0;
}

void *second(void *arg) {
  a[j] = 2;
  return 0;
}

int main(void) {
  pthread_t s, t;
  i = __VERIFIER_nondet_uint() % 2;
  j = 2 + __VERIFIER_nondet_uint() % 2;
  pthread_create(&s, 0, first, 0);
  pthread_join(s, 0);
  pthread_create(&t, 0, second, 0);
  pthread_join(t, 0);
  __VERIFIER_assert(a[i] == 1);
  return 0;
}
