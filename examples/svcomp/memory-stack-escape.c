// A thread is handed the address of a static variable.
#include <pthread.h>
pthread_t t;

void *reader(void *arg) {
  return *(int *)arg ? (void *)1 : 0;
}

void start(void) {
  static int x = 3;
  pthread_create(&t, 0, reader, &x);
}

int main(void) {
  start();
  pthread_join(t, 0);
  return 0;
}
