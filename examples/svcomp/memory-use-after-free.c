// A thread reads what is freed after it was joined.
#include <pthread.h>
#include <stdlib.h>

void *reader(void *arg) {
  int *p = arg;
  return *p ? (void *)1 : 0;
}

int main(void) {
  pthread_t t;
  int *p = malloc(sizeof *p);
  if (!p)
    return 0;
  *p = 3;
  pthread_create(&t, 0, reader, p);
  pthread_join(t, 0);
  free(p);
  return 0;
}
