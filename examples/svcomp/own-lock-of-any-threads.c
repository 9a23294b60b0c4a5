// Any number of threads share a lock that is a word, set and cleared in atomic sections.
#include <pthread.h>
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
int busy;
int inside;

static void enter(void) {
  int free = 0;
  while (!free) {
    __VERIFIER_atomic_begin();
    if (busy == 0) {
      busy = 1;
      free = 1;
    }
    __VERIFIER_atomic_end();
  }
}

static void leave(void) {
  __VERIFIER_atomic_begin();
  busy = 0;
  __VERIFIER_atomic_end();
}

void *worker(void *arg) {
  enter();
  inside++;
  __VERIFIER_assert(inside == 1);
  inside--;
  leave();
  return 0;
}

int main(void) {
  while (__VERIFIER_nondet_int()) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
  }
  return 0;
}
