// Initialisation by a flag that is looked at and set, by two threads.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
pthread_once_t once = PTHREAD_ONCE_INIT;
_Atomic int done, times;

void init(void) {
  times++;
}

void *use(void *arg) {
  if (!done) {
    done = 1;
    init();
  }
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, use, 0);
  pthread_create(&b, 0, use, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  __VERIFIER_assert(times == 1);
  return 0;
}
