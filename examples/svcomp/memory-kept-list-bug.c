// One of the threads does not take the lock, and a node may fall out of the list.
#include <pthread.h>
#include <stdlib.h>
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
  struct node *node = malloc(sizeof *node);
  node->next = head;
  head = node;
  return 0;
}

int main(void) {
  pthread_t thread;
  put(0);
  pthread_create(&thread, 0, worker, 0);
  put(2);
  pthread_join(thread, 0);
  return 0;
}
