// The argument is written after the thread is started.
#include <pthread.h>
int argument, copy;

void *work(void *arg) {
  copy = argument;
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  argument = 4;
  pthread_join(t, 0);
  return 0;
}
