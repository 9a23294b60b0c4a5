// A thread ends the process after the error can be reached.
#include <pthread.h>
#include <stdlib.h>
extern void abort(void);
void reach_error(void) {}

void *leave(void *arg) {
  exit(0);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, leave, 0);

  reach_error();
  return 0;
}
