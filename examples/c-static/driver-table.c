/* A driver: clients ask for any number of operations on any device, by way of a table. Each device has
   a lock of its own. No engine that runs the program comes to an end; that there is no race is
   seen without running it. */
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

enum { DEVICES = 4, OPERATIONS = 3, CLIENTS = 3 };

struct device {
    pthread_mutex_t lock;
    int users, requests;
};

static struct device devices[DEVICES];

static void device_open(struct device *device) {
    pthread_mutex_lock(&device->lock);
    device->users++;
    pthread_mutex_unlock(&device->lock);
}

static void device_request(struct device *device) {
    pthread_mutex_lock(&device->lock);
    if (device->users > 0)
        device->requests++;
    pthread_mutex_unlock(&device->lock);
}

static void device_close(struct device *device) {
    pthread_mutex_lock(&device->lock);
    if (device->users > 0)
        device->users--;
    pthread_mutex_unlock(&device->lock);
}

static void (*const operations[OPERATIONS])(struct device *) = {
    device_open, device_request, device_close};

static void *client(void *unused) {
    while (__VERIFIER_nondet_int()) {
        int device = __VERIFIER_nondet_int(), operation = __VERIFIER_nondet_int();
        if (0 <= device && device < DEVICES && 0 <= operation && operation < OPERATIONS)
            operations[operation](&devices[device]);
    }
    return 0;
}

int main(void) {
    pthread_t clients[CLIENTS];
    for (int i = 0; i < DEVICES; i++)
        pthread_mutex_init(&devices[i].lock, 0);
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], 0, client, 0);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], 0);
    return devices[0].requests;
}
