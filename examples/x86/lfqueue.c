/* The lock-free queue of liburcu, <urcu/rculfqueue.h>: ENQUEUERS threads put in one node each, after
 * the one that main puts in, and a thread takes nodes out and frees them.
 *
 * An enqueuer links its node behind the last one, then moves the tail. In between the node before may
 * be taken out; it may be freed only after a grace period, when nobody holds it any more. With
 * -DAT_ONCE it is freed at once, and the tail dangles. Nodes that the queue makes for itself are
 * freed the same way. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <urcu/compiler.h>
#include <urcu/urcu-mb.h>
#include <urcu/rculfqueue.h>

#ifndef ENQUEUERS
#define ENQUEUERS 1
#endif
#ifndef DEQUEUES
#define DEQUEUES 2
#endif

struct item {
  struct cds_lfq_node_rcu node;
  int value;
};

/* What waits for a grace period: only the dequeuer retires nodes. */
struct retired {
  struct rcu_head *head;
  void (*release)(struct rcu_head *head);
};

static struct cds_lfq_queue_rcu queue;
static struct retired retired[2 * DEQUEUES + 2];
static int retired_count;
static int sum;

static void retire(struct rcu_head *head, void (*release)(struct rcu_head *head)) {
#ifdef AT_ONCE
  release(head);
#else
  retired[retired_count].head = head;
  retired[retired_count++].release = release;
#endif
}

static void grace_period(void) {
#ifndef AT_ONCE
  urcu_mb_synchronize_rcu();
#endif
}

static void enqueue(int value) {
  struct item *item = malloc(sizeof *item);
  cds_lfq_node_init_rcu(&item->node);
  item->value = value;
  urcu_mb_read_lock();
  cds_lfq_enqueue_rcu(&queue, &item->node);
  urcu_mb_read_unlock();
}

static int dequeue(void) {
  urcu_mb_read_lock();
  struct cds_lfq_node_rcu *node = cds_lfq_dequeue_rcu(&queue);
  urcu_mb_read_unlock();
  int value = 0;
  if (node || retired_count)
    grace_period();
  if (node) {
    struct item *item = caa_container_of(node, struct item, node);
    value = item->value;
    free(item);
  }
  while (retired_count) {
    retired_count--;
    retired[retired_count].release(retired[retired_count].head);
  }
  return value;
}

static void *enqueuer(void *number) {
  urcu_mb_register_thread();
  enqueue((int)(long)number + 2);
  urcu_mb_unregister_thread();
  return 0;
}

static void *dequeuer(void *argument) {
  urcu_mb_register_thread();
  for (int i = 0; i < DEQUEUES; i++)
    sum += dequeue();
  urcu_mb_unregister_thread();
  return argument;
}

int main(void) {
  pthread_t threads[ENQUEUERS + 1];
  urcu_mb_register_thread();
  cds_lfq_init_rcu(&queue, retire);
  enqueue(1);
  urcu_mb_unregister_thread();
  for (long i = 0; i < ENQUEUERS; i++)
    pthread_create(&threads[i], 0, enqueuer, (void *)i);
  pthread_create(&threads[ENQUEUERS], 0, dequeuer, 0);
  for (int i = 0; i < ENQUEUERS + 1; i++)
    pthread_join(threads[i], 0);
  assert(sum >= 1);
  return 0;
}
