// Two steps in one atomic section: nobody sees x and y differ.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int x, y;

void *both(void *arg) {
  __VERIFIER_atomic_begin();
  x++;

  y++;
  __VERIFIER_atomic_end();
  return 0;
}

int main(void) {
  pthread_t t;
  int same;
  pthread_create(&t, 0, both, 0);
  __VERIFIER_atomic_begin();
  same = x == y;
  __VERIFIER_atomic_end();
  __VERIFIER_assert(same);
  pthread_join(t, 0);
  return 0;
}
