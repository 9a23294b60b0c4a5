/* Lamport's fast mutual exclusion ("A fast mutual exclusion algorithm", 1987) for two threads.
 *
 * Without contention two stores and two loads of x and y are enough to enter. A store to x or to a
 * flag has to be seen before y or x is read; without fences (-DUNFENCED) both threads may enter.
 * One of two values is left in the end. */
#include <assert.h>
#include <pthread.h>

#define N 2

#ifdef UNFENCED
#define fence() __asm__ volatile("" ::: "memory")
#else
#define fence() __asm__ volatile("mfence" ::: "memory")
#endif

/* Numbers of threads in x and y are 1 to N; 0 is nobody. */
static volatile int b[N + 1], x, y, inside, value;

static void lock(int me) {
  for (;;) {
    b[me] = 1;
    x = me;
    fence();
    if (y != 0) {
      b[me] = 0;
      while (y != 0)
        ;
      continue;
    }
    y = me;
    fence();
    if (x == me)
      return;
    b[me] = 0;
    fence();
    for (int i = 1; i <= N; i++)
      while (b[i])
        ;
    if (y == me)
      return;
    while (y != 0)
      ;
  }
}

static void unlock(int me) {
  y = 0;
  b[me] = 0;
}

static void *thread(void *number) {
  int me = (int)(long)number;
  lock(me);
  assert(!inside);
  inside = 1;
  value = me;
  inside = 0;
  unlock(me);
  return 0;
}

int main(void) {
  pthread_t threads[N];
  for (long i = 0; i < N; i++)
    pthread_create(&threads[i], 0, thread, (void *)(i + 1));
  for (int i = 0; i < N; i++)
    pthread_join(threads[i], 0);
  x = 0;
  return 0;
}
