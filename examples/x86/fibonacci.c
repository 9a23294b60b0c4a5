/* N threads compute Fibonacci numbers of different indices and store them in one variable under a
 * lock: one of N results is left in the end. -DSPIN takes a lock that spins instead of a mutex. */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 3
#endif

static volatile int inside;
static volatile unsigned result;

#ifdef SPIN
static int held;
static void lock(void) {
  while (__atomic_exchange_n(&held, 1, __ATOMIC_SEQ_CST))
    ;
}
static void unlock(void) { __atomic_store_n(&held, 0, __ATOMIC_RELEASE); }
#else
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void lock(void) { pthread_mutex_lock(&mutex); }
static void unlock(void) { pthread_mutex_unlock(&mutex); }
#endif

static void *thread(void *index) {
  unsigned a = 1, b = 1;
  for (long i = 0; i < (long)index; i++) {
    unsigned next = a + b;
    a = b;
    b = next;
  }
  lock();
  assert(!inside);
  inside = 1;
  result = b;
  inside = 0;
  unlock();
  return 0;
}

int main(void) {
  pthread_t threads[N];
  for (long i = 0; i < N; i++)
    pthread_create(&threads[i], 0, thread, (void *)(i + 1));
  for (int i = 0; i < N; i++)
    pthread_join(threads[i], 0);
  return 0;
}
