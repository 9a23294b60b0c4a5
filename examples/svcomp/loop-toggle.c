// Two threads go on for ever; a number stays 0 or 1.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;

void *toggle(void *arg) {
  for (;;) {
    pthread_mutex_lock(&m);
    if (x == 0)
      x = 1;
    else
      x = 0;
    pthread_mutex_unlock(&m);
  }
}

void *add(void *arg) {
  for (;;) {
    pthread_mutex_lock(&m);
    if (x == 0)
      x++;
    pthread_mutex_unlock(&m);
  }
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, toggle, 0);
  pthread_create(&b, 0, add, 0);
  for (;;) {
    pthread_mutex_lock(&m);
    __VERIFIER_assert(x == 0 || x == 1);
    pthread_mutex_unlock(&m);
  }
}
