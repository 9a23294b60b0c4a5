//! => sc: safe; tso: safe
//! -DFORGET => tso: unsafe
//! -DREQUEUE => tso: safe
//! -DREFUSED => tso: unknown (fork)
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

volatile int word, other, data;

static long futex(volatile int *address, int operation, int value, long second, volatile int *to) {
  return syscall(SYS_futex, address, operation, value, second, to, 0);
}

static void *waker(void *arg) {
  data = 7;
  __sync_lock_test_and_set(&word, 1);
#ifdef REQUEUE
  long moved = futex(&word, FUTEX_REQUEUE, 0, 1, &other);
  assert(moved == 0 || moved == 1);
  assert(futex(&other, FUTEX_WAKE, 1, 0, 0) == moved);
#elif !defined FORGET
  futex(&word, FUTEX_WAKE_PRIVATE, 1, 0, 0);
#endif
  return arg;
}

int main(void) {
  pthread_t thread;
#ifdef REFUSED
  syscall(SYS_fork);
#endif
  assert(futex(&word, FUTEX_WAIT, 1, 0, 0) == -1 && errno == EAGAIN);
  pthread_create(&thread, 0, waker, 0);
  while (!word)
    futex(&word, FUTEX_WAIT_PRIVATE, 0, 0, 0);
  assert(data == 7);
  pthread_join(thread, 0);
  return 0;
}
