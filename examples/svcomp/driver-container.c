// A device that callbacks get, and the data around it with the lock.
#include <pthread.h>
#include <stddef.h>
struct device {
  int number;
};
struct data {
  int count;
  struct device device;
  pthread_mutex_t lock;
};

void *callback(void *arg) {
  struct device *device = arg;
  struct data *data = (struct data *)((char *)device - offsetof(struct data, device));
  pthread_mutex_lock(&data->lock);
  data->count++;
  pthread_mutex_unlock(&data->lock);
  return 0;
}

int main(void) {
  pthread_t a, b;
  struct data data;
  pthread_mutex_init(&data.lock, 0);
  data.count = 0;
  pthread_create(&a, 0, callback, &data.device);
  pthread_create(&b, 0, callback, &data.device);
  pthread_join(a, 0);
  pthread_join(b, 0);
  data.count++;
  return 0;
}
