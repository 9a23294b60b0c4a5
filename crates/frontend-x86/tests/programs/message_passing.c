//! -DA=0 -DB=0 => tso: unsafe
//! -DA=0 -DB=1 => tso: unsafe
//! -DA=1 -DB=1 => tso: unsafe
//! -DA=1 -DB=0 => sc: safe; tso: safe
#include <assert.h>
#include <pthread.h>

volatile int data, flag, seen_flag, seen_data;

static void *writer(void *arg) {
  data = 1;
  flag = 1;
  return arg;
}

static void *reader(void *arg) {
  seen_flag = flag;
  seen_data = data;
  return arg;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, writer, 0);
  pthread_create(&b, 0, reader, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(!(seen_flag == A && seen_data == B));
  return 0;
}
