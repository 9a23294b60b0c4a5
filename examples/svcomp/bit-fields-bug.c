// Two threads set bit-fields in the same unit.
#include <pthread.h>
struct flags {
  unsigned a : 4;

  unsigned b : 4;
} f;

void *first(void *arg) {
  f.a = 3;
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, first, 0);
  f.b = 5;
  pthread_join(t, 0);
  return 0;
}
