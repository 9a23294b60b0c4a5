//! => sc: safe; tso: safe
//! -DBROKEN => tso: unsafe counter == 2
#include <assert.h>
#include <pthread.h>

volatile int lock;
int counter;

static void acquire(void) {
#ifndef BROKEN
  while (__sync_lock_test_and_set(&lock, 1))
    __asm__ volatile("pause");
#endif
}

static void release(void) { __sync_lock_release(&lock); }

static void *work(void *arg) {
  acquire();
  counter = *(volatile int *)&counter + 1;
  release();
  return arg;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(counter == 2);
  return 0;
}
