// The result is read after the thread was joined.
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
  pthread_join(t, 0);
  r = result;
  return r;
}
