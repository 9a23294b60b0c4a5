/* Peterson's algorithm ("Myths about the mutual exclusion problem", 1981): two threads enter twice
 * each.
 *
 * What a thread has said of itself must be seen before it looks at the other one; without fences
 * (-DUNFENCED) both may enter. Either thread may be the last one in either round: four results. */
#include <assert.h>
#include <pthread.h>

#ifdef UNFENCED
#define fence() __asm__ volatile("" ::: "memory")
#else
#define fence() __asm__ volatile("mfence" ::: "memory")
#endif

static volatile int wants[2], turn, inside, last[2];

static void lock(int me) {
  int other = 1 - me;
  wants[me] = 1;
  turn = other;
  fence();
  while (wants[other] && turn == other)
    ;
}

static void unlock(int me) { wants[me] = 0; }

static void *thread(void *number) {
  int me = (int)(long)number;
  for (int round = 0; round < 2; round++) {
    lock(me);
    assert(!inside);
    inside = 1;
    last[round] = me + 1;
    inside = 0;
    unlock(me);
  }
  return 0;
}

int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, thread, (void *)i);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  turn = 0;
  return 0;
}
