// Each of two cells has its own mutex.
#include <pthread.h>
pthread_mutex_t m[2];
int cell[2];

void *first(void *arg) {
  pthread_mutex_lock(&m[0]);
  cell[0]++;
  pthread_mutex_unlock(&m[0]);
  pthread_mutex_lock(&m[1]);
  cell[1]++;
  pthread_mutex_unlock(&m[1]);
  return 0;
}

void *second(void *arg) {
  pthread_mutex_lock(&m[1]);
  cell[1] += 2;
  pthread_mutex_unlock(&m[1]);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_mutex_init(&m[0], 0);
  pthread_mutex_init(&m[1], 0);
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
