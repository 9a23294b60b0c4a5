//! => sc: safe; tso: safe
//! -DJOIN => tso: unsafe
#include <pthread.h>
#include <semaphore.h>

sem_t never;

static void *work(void *arg) {
  sem_wait(&never);
  return arg;
}

int main(void) {
  pthread_t thread;
  sem_init(&never, 0, 0);
  pthread_create(&thread, 0, work, 0);
#ifdef JOIN
  pthread_join(thread, 0);
#endif
  return 0;
}
