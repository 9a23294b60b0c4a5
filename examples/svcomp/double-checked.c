// Double-checked initialisation: the pointer is atomic.
#include <pthread.h>
#include <stdatomic.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int storage;
int *_Atomic instance;

void *get(void *arg) {
  if (!instance) {
    pthread_mutex_lock(&m);
    if (!instance) {
      storage = 5;
      instance = &storage;
    }
    pthread_mutex_unlock(&m);
  }
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, get, 0);
  pthread_create(&b, 0, get, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
