//! => sc: safe; tso: safe
//! -DBROKEN => tso: unsafe counter == 2
//! -DDEADLOCK => tso: unsafe
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
volatile int counter;

static void *work(void *arg) {
#ifndef BROKEN
  pthread_mutex_lock(arg ? &mutex : &other);
#endif
#ifdef DEADLOCK
  pthread_mutex_lock(arg ? &other : &mutex);
  pthread_mutex_unlock(arg ? &other : &mutex);
#endif
  counter = counter + 1;
#ifndef BROKEN
  pthread_mutex_unlock(arg ? &mutex : &other);
#endif
  return (void *)7;
}

int main(void) {
  pthread_t a, b;
  void *result;
  pthread_create(&a, 0, work, &mutex);
#ifdef DEADLOCK
  pthread_create(&b, 0, work, 0);
#else
  pthread_create(&b, 0, work, &mutex);
#endif
  pthread_join(a, &result);
  assert(result == (void *)7);
  pthread_join(b, 0);
#ifndef DEADLOCK
  assert(counter == 2);
#endif
  return 0;
}
