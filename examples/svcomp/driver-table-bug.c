// A driver's operations are called through a table; one does not take the lock.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
struct device {
  pthread_mutex_t lock;
  int open, bytes;
};
struct operations {
  int (*open)(struct device *);
  int (*write)(struct device *, int);
};

int driver_open(struct device *d) {
  pthread_mutex_lock(&d->lock);
  d->open++;
  pthread_mutex_unlock(&d->lock);
  return 0;
}

int driver_write(struct device *d, int n) {

  if (d->open)
    d->bytes += n;

  return n;
}

struct operations ops = {driver_open, driver_write};
struct device device = {PTHREAD_MUTEX_INITIALIZER, 0, 0};

void *user(void *arg) {
  ops.open(&device);
  ops.write(&device, 4);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, user, 0);
  pthread_create(&b, 0, user, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  __VERIFIER_assert(device.open == 2);
  return 0;
}
