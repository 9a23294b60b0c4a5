// A recursive mutex is held until it was given back once, which is not as often.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
pthread_mutex_t m;
int a, b;

void *work(void *arg) {
  pthread_mutex_lock(&m);

  a++;
  pthread_mutex_unlock(&m);
  pthread_mutex_lock(&m);
  b++;
  pthread_mutex_unlock(&m);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_mutexattr_t attr;
  pthread_mutexattr_init(&attr);
  pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&m, &attr);
  pthread_create(&t, 0, work, 0);
  pthread_mutex_lock(&m);
  __VERIFIER_assert(a == b);
  pthread_mutex_unlock(&m);
  pthread_join(t, 0);
  return 0;
}
