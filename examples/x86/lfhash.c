/* The lock-free hash table of liburcu, <urcu/rculfhash.h>: one thread adds a node and deletes it
 * again, another one looks it up. What is found is there as long as the read side holds it; it is
 * freed after a grace period, or at once with -DAT_ONCE. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <urcu/compiler.h>
#include <urcu/urcu-mb.h>
#include <urcu/rculfhash.h>

struct item {
  struct cds_lfht_node node;
  int key, value;
};

static struct cds_lfht *table;
static int found;

static int matches(struct cds_lfht_node *node, const void *key) {
  return caa_container_of(node, struct item, node)->key == *(const int *)key;
}

/* Threads have to be known before they read. */
static void *writer(void *argument) {
  urcu_mb_register_thread();
  struct item *item = malloc(sizeof *item);
  cds_lfht_node_init(&item->node);
  item->key = 7;
  item->value = 42;
  urcu_mb_read_lock();
  struct cds_lfht_node *there = cds_lfht_add_unique(table, 7, matches, &item->key, &item->node);
  assert(there == &item->node);
  int failed = cds_lfht_del(table, &item->node);
  assert(!failed);
  urcu_mb_read_unlock();
#ifndef AT_ONCE
  urcu_mb_synchronize_rcu();
#endif
  free(item);
  urcu_mb_unregister_thread();
  return argument;
}

static void *reader(void *argument) {
  int key = 7;
  struct cds_lfht_iter iter;
  urcu_mb_register_thread();
  urcu_mb_read_lock();
  cds_lfht_lookup(table, 7, matches, &key, &iter);
  struct cds_lfht_node *node = cds_lfht_iter_get_node(&iter);
  if (node)
    found = caa_container_of(node, struct item, node)->value;
  urcu_mb_read_unlock();
  urcu_mb_unregister_thread();
  return argument;
}

int main(void) {
  pthread_t first, second;
  table = cds_lfht_new_flavor(1, 1, 1, 0, &urcu_mb_flavor, 0);
  assert(table);
  pthread_create(&first, 0, writer, 0);
  pthread_create(&second, 0, reader, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
  assert(found == 0 || found == 42);
  return 0;
}
