/* The queue lock of Craig (1993), Landin and Hagersten (1994): N threads line up by an exchange of
 * the tail, each waits for the flag of the one before it, and stores its number under the lock: one
 * of N results is left in the end.
 *
 * -DBROKEN lines up with a load and a store instead of the exchange, so two threads may wait for
 * the same flag. */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 3
#endif

struct node {
  int held;
};

static struct node nodes[N + 1];
static struct node *tail = &nodes[N];
static volatile int inside, value;

static struct node *line_up(struct node *own) {
#ifdef BROKEN
  struct node *before = __atomic_load_n(&tail, __ATOMIC_SEQ_CST);
  __atomic_store_n(&tail, own, __ATOMIC_SEQ_CST);
  return before;
#else
  return __atomic_exchange_n(&tail, own, __ATOMIC_SEQ_CST);
#endif
}

static void lock(struct node *own) {
  __atomic_store_n(&own->held, 1, __ATOMIC_RELAXED);
  struct node *before = line_up(own);
  while (__atomic_load_n(&before->held, __ATOMIC_ACQUIRE))
    ;
}

static void unlock(struct node *own) { __atomic_store_n(&own->held, 0, __ATOMIC_RELEASE); }

static void *thread(void *number) {
  int me = (int)(long)number;
  lock(&nodes[me]);
  assert(!inside);
  inside = 1;
  value = me + 1;
  inside = 0;
  unlock(&nodes[me]);
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
