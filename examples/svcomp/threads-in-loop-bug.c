// Three threads that a loop starts each have the same cell.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
int cell[3];

void *work(void *arg) {
  int *mine = arg;
  *mine += 1;
  return 0;
}

int main(void) {
  pthread_t t[3];
  int i, sum = 0;
  for (i = 0; i < 3; i++)
    pthread_create(&t[i], 0, work, &cell[0]);
  for (i = 0; i < 3; i++)
    pthread_join(t[i], 0);
  for (i = 0; i < 3; i++)
    sum += cell[i];
  __VERIFIER_assert(sum == 3);
  return 0;
}
