// Nodes that are never freed stay in a list, wherever the program ends.
#include <pthread.h>
#include <stdlib.h>
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
struct node {
  struct node *next;
  int value;
} *head;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void put(int value) {
  struct node *node = malloc(sizeof *node);
  node->value = value;
  pthread_mutex_lock(&m);
  node->next = head;
  head = node;
  pthread_mutex_unlock(&m);
}

void *worker(void *arg) {
  put(1);
  return 0;
}

int main(void) {
  pthread_t thread;
  put(0);
  pthread_create(&thread, 0, worker, 0);
  if (__VERIFIER_nondet_int() < 0)
    abort();
  put(2);
  return 0;
}
