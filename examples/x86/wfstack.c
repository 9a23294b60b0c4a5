/* The wait-free stack of liburcu, <urcu/wfstack.h>: PRODUCERS threads push PUSHES nodes each,
 * CONSUMERS threads pop POPS times each. Pushing never waits; popping takes a mutex, and waits where
 * a push has come half way.
 *
 * Each node comes out once, or is still there in the end. The library's own code runs. */
#include <assert.h>
#include <pthread.h>
#include <urcu/wfstack.h>

#ifndef PRODUCERS
#define PRODUCERS 1
#endif
#ifndef CONSUMERS
#define CONSUMERS 1
#endif
#ifndef PUSHES
#define PUSHES 1
#endif
#ifndef POPS
#define POPS 1
#endif

struct item {
  struct cds_wfs_node node;
  int value;
};

static struct cds_wfs_stack stack;
static struct item items[PRODUCERS][PUSHES];
static int popped[CONSUMERS][POPS];

/* The value of the node on top, or 0. What is popped belongs to who pops it. */
static int pop(void) {
  struct cds_wfs_node *node = cds_wfs_pop_blocking(&stack);
  if (!node)
    return 0;
  node->next = 0;
  return caa_container_of(node, struct item, node)->value;
}

static void *producer(void *number) {
  for (int i = 0; i < PUSHES; i++) {
    struct item *item = &items[(long)number][i];
    item->value = (int)(long)number * PUSHES + i + 1;
    cds_wfs_node_init(&item->node);
    cds_wfs_push(&stack, &item->node);
  }
  return 0;
}

static void *consumer(void *number) {
  for (int i = 0; i < POPS; i++)
    popped[(long)number][i] = pop();
  return 0;
}

static int times[PRODUCERS * PUSHES + 1];

int main(void) {
  pthread_t threads[PRODUCERS + CONSUMERS];
  cds_wfs_init(&stack);
  for (long i = 0; i < PRODUCERS; i++)
    pthread_create(&threads[i], 0, producer, (void *)i);
  for (long i = 0; i < CONSUMERS; i++)
    pthread_create(&threads[PRODUCERS + i], 0, consumer, (void *)i);
  for (int i = 0; i < PRODUCERS + CONSUMERS; i++)
    pthread_join(threads[i], 0);
  for (int i = 0; i < CONSUMERS; i++)
    for (int k = 0; k < POPS; k++)
      times[popped[i][k]]++;
  for (struct cds_wfs_node *node = &stack.head->node; node != (void *)0x1; node = node->next)
    times[caa_container_of(node, struct item, node)->value]++;
  for (int value = 1; value <= PRODUCERS * PUSHES; value++)
    assert(times[value] == 1);
  return 0;
}
