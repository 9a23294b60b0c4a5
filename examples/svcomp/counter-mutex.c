// Two threads add to a counter under a mutex.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int n;

void *locked(void *arg) {
  pthread_mutex_lock(&m);
  n = n + 1;
  pthread_mutex_unlock(&m);
  return 0;
}

void *other(void *arg) {
  pthread_mutex_lock(&m);
  n = n + 1;
  pthread_mutex_unlock(&m);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, locked, 0);
  pthread_create(&b, 0, other, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  __VERIFIER_assert(n == 2);
  return 0;
}
