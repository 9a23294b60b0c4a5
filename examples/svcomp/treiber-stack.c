// A stack without locks: two threads push, trying again if the top has changed.
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
struct node {
  struct node *next;
  int value;
};
struct node nodes[2];
_Atomic(struct node *) top;

void *push(void *arg) {
  struct node *n = arg;
  struct node *old = atomic_load(&top);
  do {
    n->next = old;
  } while (!atomic_compare_exchange_weak(&top, &old, n));
  return 0;
}

int main(void) {
  pthread_t a, b;
  int count = 0;
  pthread_create(&a, 0, push, &nodes[0]);
  pthread_create(&b, 0, push, &nodes[1]);
  pthread_join(a, 0);
  pthread_join(b, 0);
  for (struct node *p = atomic_load(&top); p; p = p->next)
    count++;
  __VERIFIER_assert(count == 2);
  return 0;
}
