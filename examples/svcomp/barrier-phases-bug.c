// Two phases with nothing in between.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
pthread_barrier_t b;
int part[2], sum[2];

void *work(void *arg) {
  long me = (long)arg;
  part[me] = (int)me + 1;

  sum[me] = part[0] + part[1];
  return 0;
}

int main(void) {
  pthread_t t[2];
  pthread_barrier_init(&b, 0, 2);
  for (long i = 0; i < 2; i++)
    pthread_create(&t[i], 0, work, (void *)i);
  for (int i = 0; i < 2; i++)
    pthread_join(t[i], 0);
  __VERIFIER_assert(sum[0] == 3 && sum[1] == 3);
  pthread_barrier_destroy(&b);
  return 0;
}
