// A value that is computed when somebody wants it, under a lock to read.
#include <pthread.h>
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int value, valid;

int get(void) {
  pthread_rwlock_rdlock(&lock);
  if (valid) {
    int known = value;
    pthread_rwlock_unlock(&lock);
    return known;
  }
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_rdlock(&lock);
  if (!valid) {
    value = 42;
    valid = 1;
  }
  int known = value;
  pthread_rwlock_unlock(&lock);
  return known;
}

void *reader(void *arg) {
  get();
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, reader, 0);
  pthread_create(&b, 0, reader, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
