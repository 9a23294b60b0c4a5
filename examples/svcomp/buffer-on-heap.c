// A buffer on the heap beside its condition variables: what one thread takes, nobody else takes.
// A pointer and the words of the condition variables lie in one object, and are of one size.
extern void abort(void);
void reach_error() {}
#include <pthread.h>
#include <stdlib.h>

void __VERIFIER_assert(int holds) { if (!holds) { reach_error(); abort(); } }

struct buffer {
  int *items;
  int size, count, in, out;
  pthread_mutex_t lock;
  pthread_cond_t not_empty, not_full;
};

struct buffer *buffer;
int total, items[2] = {1, 2};

void put(struct buffer *b, int item) {
  pthread_mutex_lock(&b->lock);
  while (b->count == b->size) pthread_cond_wait(&b->not_full, &b->lock);
  b->items[b->in] = item;
  b->in = (b->in + 1) % b->size;
  b->count++;
  pthread_cond_broadcast(&b->not_empty);
  pthread_mutex_unlock(&b->lock);
}

void get(struct buffer *b) {
  pthread_mutex_lock(&b->lock);
  while (b->count == 0) pthread_cond_wait(&b->not_empty, &b->lock);
  __VERIFIER_assert(b->count > 0);
  total += b->items[b->out];
  b->out = (b->out + 1) % b->size;
  b->count--;
  pthread_cond_broadcast(&b->not_full);
  pthread_mutex_unlock(&b->lock);
}

void *producer(void *arg) { put(buffer, *(int *)arg); return 0; }
void *consumer(void *arg) { get(buffer); return 0; }

int main() {
  pthread_t one, two, first, second;
  buffer = malloc(sizeof(struct buffer));
  buffer->size = 1;
  buffer->items = malloc(buffer->size * sizeof(int));
  buffer->count = buffer->in = buffer->out = 0;
  pthread_mutex_init(&buffer->lock, 0);
  pthread_cond_init(&buffer->not_empty, 0);
  pthread_cond_init(&buffer->not_full, 0);
  pthread_create(&one, 0, producer, &items[0]);
  pthread_create(&two, 0, producer, &items[1]);
  pthread_create(&first, 0, consumer, 0);
  pthread_create(&second, 0, consumer, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
  __VERIFIER_assert(total == 3);
  return 0;
}
