// Dekker's algorithm, by two threads that never end. One of them does not say that it
// wants to enter.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int holds) {
  if (!holds) {
    reach_error();
    abort();
  }
}

int wants[2], turn, inside;

void *zero(void *arg) {
  while (1) {
    wants[0] = 1;
    while (wants[1]) {
      if (turn != 0) {
        wants[0] = 0;
        while (turn != 0)
          ;
        wants[0] = 1;
      }
    }
    inside = 0;
    __VERIFIER_assert(inside == 0);
    turn = 1;
    wants[0] = 0;
  }
  return 0;
}

void *one(void *arg) {
  while (1) {
    while (wants[0]) {
      if (turn != 1) {
        wants[1] = 0;
        while (turn != 1)
          ;
        wants[1] = 1;
      }
    }
    inside = 1;
    __VERIFIER_assert(inside == 1);
    turn = 0;
    wants[1] = 0;
  }
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, zero, 0);
  pthread_create(&b, 0, one, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
