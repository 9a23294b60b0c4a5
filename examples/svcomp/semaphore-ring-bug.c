// A ring of two cells between two semaphores; the producer does not wait.
#include <pthread.h>
#include <semaphore.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
sem_t full, empty;
int ring[2];

void *producer(void *arg) {
  for (int i = 0; i < 3; i++) {

    ring[i % 2] = i;
    sem_post(&full);
  }
  return 0;
}

int main(void) {
  pthread_t t;
  sem_init(&full, 0, 0);
  sem_init(&empty, 0, 2);
  pthread_create(&t, 0, producer, 0);
  for (int i = 0; i < 3; i++) {
    sem_wait(&full);
    __VERIFIER_assert(ring[i % 2] == i);
    sem_post(&empty);
  }
  pthread_join(t, 0);
  return 0;
}
