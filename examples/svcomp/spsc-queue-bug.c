// A queue with one producer and one consumer: the tail moves before the cell is written.
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
int cells[2];
atomic_int head, tail;

void *produce(void *arg) {
  for (int i = 1; i <= 2; i++) {
    tail++;
    cells[(tail - 1) % 2] = i;
  }
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, produce, 0);
  if (head != tail) {
    int v = cells[head % 2];
    head++;
    __VERIFIER_assert(v == 1);
  }
  pthread_join(t, 0);
  return 0;
}
