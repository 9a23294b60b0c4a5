// A thread gives a node to another under the lock, and touches it again.
#include <pthread.h>
#include <stdlib.h>
struct node {
  int value;
} node, *inbox;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *receive(void *arg) {
  struct node *n;
  pthread_mutex_lock(&m);
  n = inbox;
  pthread_mutex_unlock(&m);
  if (n)
    n->value++;
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, receive, 0);
  node.value = 1;
  pthread_mutex_lock(&m);
  inbox = &node;
  pthread_mutex_unlock(&m);
  node.value = 2;
  pthread_join(t, 0);
  return 0;
}
