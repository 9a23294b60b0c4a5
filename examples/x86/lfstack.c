/* The lock-free stack of liburcu, <urcu/lfstack.h>: PRODUCERS threads push PUSHES nodes each,
 * CONSUMERS threads pop POPS times each. Pushing tries again where
 * another thread was faster; popping takes a mutex.
 *
 * Each node comes out once, or is still there in the end. The library's own code runs. */
#include <assert.h>
#include <pthread.h>
#include <urcu/compiler.h>
#include <urcu/lfstack.h>

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
  struct cds_lfs_node node;
  int value;
};

static struct cds_lfs_stack stack;
static struct item items[PRODUCERS][PUSHES];
static int popped[CONSUMERS][POPS];

/* The value of the node on top, or 0. What is popped belongs to who pops it. */
static int pop(void) {
  struct cds_lfs_node *node = cds_lfs_pop_blocking(&stack);
  if (!node)
    return 0;
  node->next = 0;
  return caa_container_of(node, struct item, node)->value;
}

static void *producer(void *number) {
  for (int i = 0; i < PUSHES; i++) {
    struct item *item = &items[(long)number][i];
    item->value = (int)(long)number * PUSHES + i + 1;
    cds_lfs_node_init(&item->node);
    cds_lfs_push(&stack, &item->node);
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
  cds_lfs_init(&stack);
  for (long i = 0; i < PRODUCERS; i++)
    pthread_create(&threads[i], 0, producer, (void *)i);
  for (long i = 0; i < CONSUMERS; i++)
    pthread_create(&threads[PRODUCERS + i], 0, consumer, (void *)i);
  for (int i = 0; i < PRODUCERS + CONSUMERS; i++)
    pthread_join(threads[i], 0);
  for (int i = 0; i < CONSUMERS; i++)
    for (int k = 0; k < POPS; k++)
      times[popped[i][k]]++;
  for (struct cds_lfs_node *node = &stack.head->node; node; node = node->next)
    times[caa_container_of(node, struct item, node)->value]++;
  for (int value = 1; value <= PRODUCERS * PUSHES; value++)
    assert(times[value] == 1);
  return 0;
}
