// Any number of threads, each with an element of a table and its lock, or the lock of the first one.
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
#define SIZE 40
struct {
  pthread_mutex_t lock;
  int value;
} table[SIZE];

void *worker(void *arg) {
  int index = __VERIFIER_nondet_int();
  if (index < 0 || index >= SIZE)
    return 0;
  int other = __VERIFIER_nondet_bool() ? index : 0;
  pthread_mutex_lock(&table[other].lock);
  table[index].value++;
  pthread_mutex_unlock(&table[other].lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  for (int i = 0; i < SIZE; i++)
    pthread_mutex_init(&table[i].lock, 0);
  while (__VERIFIER_nondet_bool())
    pthread_create(&thread, 0, worker, 0);
  return 0;
}
