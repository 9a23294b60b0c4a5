// What a thread gives back is its argument.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}

void *next(void *arg) {
  return (void *)((long)arg);
}

int main(void) {
  pthread_t t;
  void *r;
  pthread_create(&t, 0, next, (void *)41);
  pthread_join(t, &r);
  __VERIFIER_assert((long)r == 42);
  return 0;
}
