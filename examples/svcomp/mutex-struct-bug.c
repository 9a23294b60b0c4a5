// An account with a mutex of its own: a withdrawal looks in one critical section and takes in another.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
struct account {
  int id;
  pthread_mutex_t lock;
  int balance;
} account = {7, PTHREAD_MUTEX_INITIALIZER, 10};

void *withdraw(void *arg) {
  struct account *a = arg;
  int enough;
  pthread_mutex_lock(&a->lock);
  enough = a->balance >= 6;
  pthread_mutex_unlock(&a->lock);
  pthread_mutex_lock(&a->lock);
  if (enough)
    a->balance -= 6;
  pthread_mutex_unlock(&a->lock);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, withdraw, &account);
  pthread_create(&b, 0, withdraw, &account);
  pthread_join(a, 0);
  pthread_join(b, 0);
  __VERIFIER_assert(account.balance >= 0);
  return 0;
}
