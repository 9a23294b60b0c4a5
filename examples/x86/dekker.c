/* Dekker's algorithm (Dijkstra, "Cooperating sequential processes", 1965) for two threads.
 *
 * A thread says that it wants to enter, then looks whether the other one does. The store may wait
 * in a buffer while the load is done, so a fence has to stand between: without it (-DUNFENCED)
 * both threads may enter. One of two values is left in the end. */
#include <assert.h>
#include <pthread.h>

#ifdef UNFENCED
#define fence() __asm__ volatile("" ::: "memory")
#else
#define fence() __asm__ volatile("mfence" ::: "memory")
#endif

static volatile int wants[2], turn, inside, value;

static void lock(int me) {
  int other = 1 - me;
  wants[me] = 1;
  fence();
  while (wants[other]) {
    if (turn == me)
      continue;
    wants[me] = 0;
    while (turn != me)
      ;
    wants[me] = 1;
    fence();
  }
}

static void unlock(int me) {
  turn = 1 - me;
  wants[me] = 0;
}

static void *thread(void *number) {
  int me = (int)(long)number;
  lock(me);
  assert(!inside);
  inside = 1;
  value = me + 1;
  inside = 0;
  unlock(me);
  return 0;
}

int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, thread, (void *)i);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  return 0;
}
