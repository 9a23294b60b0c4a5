/* Lamport's bakery ("A new solution of Dijkstra's concurrent programming problem", 1974) for N
 * threads.
 *
 * A thread draws a number larger than all others, then waits for those with smaller ones. What it
 * has drawn must be seen before it looks at the numbers of others; without fences (-DUNFENCED) two
 * threads may enter. One of N values is left in the end. */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 2
#endif

#ifdef UNFENCED
#define fence() __asm__ volatile("" ::: "memory")
#else
#define fence() __asm__ volatile("mfence" ::: "memory")
#endif

static volatile int choosing[N], number[N], inside, value;

static void lock(int me) {
  choosing[me] = 1;
  fence();
  int largest = 0;
  for (int i = 0; i < N; i++) {
    int other = number[i];
    if (other > largest)
      largest = other;
  }
  int mine = largest + 1;
  number[me] = mine;
  choosing[me] = 0;
  fence();
  for (int i = 0; i < N; i++) {
    if (i == me)
      continue;
    while (choosing[i])
      ;
    while (number[i] && (number[i] < mine || (number[i] == mine && i < me)))
      ;
  }
}

static void unlock(int me) { number[me] = 0; }

static void *thread(void *argument) {
  int me = (int)(long)argument;
  lock(me);
  assert(!inside);
  inside = 1;
  value = me + 1;
  inside = 0;
  unlock(me);
  return 0;
}

int main(void) {
  pthread_t threads[N];
  for (long i = 0; i < N; i++)
    pthread_create(&threads[i], 0, thread, (void *)i);
  for (int i = 0; i < N; i++)
    pthread_join(threads[i], 0);
  return 0;
}
