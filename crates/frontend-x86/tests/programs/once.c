//! => tso: safe
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <sched.h>
#include <errno.h>

pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_key_t key;
sem_t done;
int initialised, destroyed;

static void initialise(void) { initialised++; }
static void destroy(void *value) { destroyed += value == &initialised; }

static void *work(void *arg) {
  pthread_once(&once, initialise);
  pthread_setspecific(key, &initialised);
  errno = 3;
  sem_post(&done);
  return arg;
}

int main(void) {
  pthread_t thread;
  pthread_key_create(&key, destroy);
  sem_init(&done, 0, 0);
  pthread_create(&thread, 0, work, 0);
  pthread_once(&once, initialise);
  sem_wait(&done);
  sched_yield();
  pthread_join(thread, 0);
  assert(initialised == 1 && destroyed == 1 && errno == 0);
  return 0;
}
