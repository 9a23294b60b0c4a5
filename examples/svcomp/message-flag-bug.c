// A message behind a plain flag, written after the flag.
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
int data;
int flag;

void *send(void *arg) {
  flag = 1;
  data = 42;
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, send, 0);
  if (flag)
    __VERIFIER_assert(data == 42);
  pthread_join(t, 0);
  return 0;
}
