//! => sc: safe; tso: safe
//! -DFAST => sc: safe; tso: unsafe assertion failed
//! -DUNREGISTERED => tso: unsafe assertion failed
#include <assert.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

volatile int x, y, first, second;

// The frequent side has no fence; the rare side has one for both.
static void *frequent(void *arg) {
  x = 1;
  __asm__ volatile("" ::: "memory");
  first = y;
  return arg;
}

static void *rare(void *arg) {
  y = 1;
#ifndef FAST
  long done = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  assert(done == 0);
#endif
  second = x;
  return arg;
}

int main(void) {
  pthread_t one, other;
  assert(syscall(SYS_membarrier, 1 << 20, 0, 0) == -1 && errno == EINVAL);
  assert(syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) & MEMBARRIER_CMD_PRIVATE_EXPEDITED);
#ifndef UNREGISTERED
  assert(!syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0));
#endif
  pthread_create(&one, 0, frequent, 0);
  pthread_create(&other, 0, rare, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  assert(first || second);
  return 0;
}
