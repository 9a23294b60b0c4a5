// Money goes from one account to the other under both locks; the sum is looked at under one.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
pthread_mutex_t la = PTHREAD_MUTEX_INITIALIZER, lb = PTHREAD_MUTEX_INITIALIZER;
int a = 5, b = 5;

void *transfer(void *arg) {
  pthread_mutex_lock(&la);
  a -= 3;
  pthread_mutex_unlock(&la);
  pthread_mutex_lock(&lb);
  b += 3;
  pthread_mutex_unlock(&lb);

  return 0;
}

int main(void) {
  pthread_t t;
  int sum;
  pthread_create(&t, 0, transfer, 0);
  pthread_mutex_lock(&la);
  pthread_mutex_lock(&lb);
  sum = a + b;
  pthread_mutex_unlock(&lb);
  pthread_mutex_unlock(&la);
  __VERIFIER_assert(sum == 10);
  pthread_join(t, 0);
  return 0;
}
