//! => tso: safe
//! -fno-pie -no-pie => tso: safe
//! -fPIC => tso: safe
#include <assert.h>
#include <pthread.h>

__thread int initialised = 41;
__thread int zero;
static __thread long local = -1;
int *addresses[2];

static void *work(void *arg) {
  initialised++;
  zero += 5;
  local--;
  assert(initialised == 42 && zero == 5 && local == -2);
  addresses[(long)arg] = &zero;
  return 0;
}

int main(void) {
  pthread_t thread;
  zero = 1;
  pthread_create(&thread, 0, work, (void *)1);
  pthread_join(thread, 0);
  assert(initialised == 41 && zero == 1 && local == -1);
  work((void *)0 + (zero = 0));
  assert(addresses[0] != addresses[1]);
  return 0;
}
