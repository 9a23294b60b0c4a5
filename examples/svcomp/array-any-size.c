// Two threads add up an array of any size.
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int *array, size;
unsigned sum;

void *add(void *arg) {
  for (int i = 0; i < size; i++) {
    __VERIFIER_atomic_begin();
    sum += array[i];
    __VERIFIER_atomic_end();
  }
  return 0;
}

int main(void) {
  pthread_t a, b;
  size = __VERIFIER_nondet_int();
  if (size < 0 || size > 100000)
    return 0;
  array = malloc(sizeof(int) * (size_t)size);
  for (int i = 0; i < size; i++)
    array[i] = __VERIFIER_nondet_int();
  pthread_create(&a, 0, add, 0);
  pthread_create(&b, 0, add, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
