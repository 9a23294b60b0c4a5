// The same with a lock: nothing gets lost.
#include <pthread.h>

extern void abort(void);
void reach_error(void) { abort(); }

int count;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *add(void *argument) {
  pthread_mutex_lock(&lock);
  count = count + 1;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, add, 0);
  pthread_create(&second, 0, add, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
  if (count != 2)
    reach_error();
  return 0;
}
