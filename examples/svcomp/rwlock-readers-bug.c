// A writer changes a pair; a reader takes no lock.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int a, b;

void *writer(void *arg) {
  pthread_rwlock_wrlock(&l);
  a = 1;
  b = 1;
  pthread_rwlock_unlock(&l);
  return 0;
}

int main(void) {
  pthread_t t;
  int x, y;
  pthread_create(&t, 0, writer, 0);

  x = a;
  y = b;

  __VERIFIER_assert(x == y);
  pthread_join(t, 0);
  return 0;
}
