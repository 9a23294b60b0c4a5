// Two owners; each of them frees.
#include <pthread.h>
#include <stdlib.h>
#include <stdatomic.h>
atomic_int owners = 2;
int *data;

void *owner(void *arg) {
  if (atomic_fetch_sub(&owners, 1) >= 1)
    free(data);
  return 0;
}

int main(void) {
  pthread_t a, b;
  data = malloc(sizeof *data);
  if (!data)
    return 0;
  pthread_create(&a, 0, owner, 0);
  pthread_create(&b, 0, owner, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
