// The result is read before the thread was joined.
#include <pthread.h>
int result;

void *work(void *arg) {
  result = 1;
  return 0;
}

int main(void) {
  pthread_t t;
  int r;
  pthread_create(&t, 0, work, 0);
  r = result;
  pthread_join(t, 0);
  return r;
}
