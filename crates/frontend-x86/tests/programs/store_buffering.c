//! -DA=0 -DB=0 => sc: safe; tso: unsafe assertion failed
//! -DA=0 -DB=1 => sc: unsafe; tso: unsafe
//! -DA=1 -DB=0 => sc: unsafe; tso: unsafe
//! -DA=1 -DB=1 => sc: unsafe; tso: unsafe
//! -DA=0 -DB=0 -DFENCE => tso: safe
//! -DA=0 -DB=1 -DFENCE => tso: unsafe
//! -DA=1 -DB=0 -DFENCE => tso: unsafe
//! -DA=1 -DB=1 -DFENCE => tso: unsafe
//! -DA=0 -DB=0 -DLOCK => tso: safe
//! -DA=1 -DB=1 -DLOCK => tso: unsafe
#include <assert.h>
#include <pthread.h>

volatile int x, y, first, second;

#if defined FENCE
#define fence() __asm__ volatile("mfence" ::: "memory")
#elif defined LOCK
#define fence() __asm__ volatile("lock; orl $0, -64(%%rsp)" ::: "memory", "cc")
#else
#define fence()
#endif

static void *left(void *arg) {
  x = 1;
  fence();
  first = y;
  return arg;
}

static void *right(void *arg) {
  y = 1;
  fence();
  second = x;
  return arg;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, left, 0);
  pthread_create(&b, 0, right, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(!(first == A && second == B));
  return 0;
}
