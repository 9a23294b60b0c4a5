// The count of owners is in the object; who is not the last does not look at it again.
#include <pthread.h>
#include <stdlib.h>
#include <stdatomic.h>
struct object {
  atomic_int owners;
  int value;
} *object;

void *owner(void *arg) {
  if (atomic_fetch_sub(&object->owners, 1) == 1)
    free(object);

  return 0;
}

int main(void) {
  pthread_t a, b;
  object = malloc(sizeof *object);
  if (!object)
    return 0;
  atomic_init(&object->owners, 2);
  object->value = 0;
  pthread_create(&a, 0, owner, 0);
  pthread_create(&b, 0, owner, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
