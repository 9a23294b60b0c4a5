// Any number of threads move money between two accounts, in two steps under two locks; whoever holds the
// outer lock finds nothing on its way.
#include <pthread.h>
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
struct bank {
  pthread_mutex_t moving;
  int on_its_way;
} bank = {PTHREAD_MUTEX_INITIALIZER, 0};
pthread_mutex_t record = PTHREAD_MUTEX_INITIALIZER;

static void change(int by) {
  pthread_mutex_lock(&record);
  bank.on_its_way += by;
  pthread_mutex_unlock(&record);
}

void *clerk(void *arg) {
  pthread_mutex_lock(&bank.moving);
  change(1);
  change(-1);
  pthread_mutex_unlock(&bank.moving);
  return 0;
}

int main(void) {
  while (__VERIFIER_nondet_int()) {
    pthread_t thread;
    pthread_create(&thread, 0, clerk, 0);
  }
  pthread_mutex_lock(&bank.moving);
  __VERIFIER_assert(bank.on_its_way == 0);
  pthread_mutex_unlock(&bank.moving);
  return 0;
}
