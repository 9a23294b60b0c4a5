// A handler and the driver share a status word without a lock.
#include <pthread.h>
#include <stdatomic.h>
int status;
int seen;

void *handler(void *arg) {
  status |= 1;
  return 0;
}

int main(void) {
  pthread_t irq;
  pthread_create(&irq, 0, handler, 0);
  if (status & 1)
    seen = 1;
  pthread_join(irq, 0);
  return seen;
}
