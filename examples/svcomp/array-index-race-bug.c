// Two threads have cells that meet in one.
#include <pthread.h>
int a[4];

void *even(void *arg) {
  for (int i = 0; i < 4; i += 2)
    a[i] = 1;
  return 0;
}

void *odd(void *arg) {
  for (int i = 2; i < 4; i += 1)
    a[i] = 2;
  return 0;
}

int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, even, 0);
  pthread_create(&t, 0, odd, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return 0;
}
