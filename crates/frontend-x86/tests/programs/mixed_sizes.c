//! -DLOW=0 -DHIGH=0 => tso: unsafe
//! -DLOW=1 -DHIGH=2 => tso: unsafe
//! -DLOW=1 -DHIGH=0 => tso: unsafe
//! -DLOW=0 -DHIGH=2 => tso: safe
#include <assert.h>
#include <pthread.h>

union {
  volatile unsigned int whole;
  volatile unsigned short half[2];
} word;
volatile unsigned int seen;

static void *writer(void *arg) {
  word.half[0] = 1;
  word.half[1] = 2;
  return arg;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  seen = word.whole;
  pthread_join(thread, 0);
  assert(seen != (LOW | HIGH << 16));
  return 0;
}
