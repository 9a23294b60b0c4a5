// A driver that asks a device which nobody has written down: --extern nondet lets it say anything.
#include <assert.h>
#include <pthread.h>

extern int device_status(int port);
extern void device_command(int port, const int *words);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pending, handled;

static void *interrupt(void *arg) {
    (void)arg;
    int words[2] = {1, 2};
    device_command(3, words);
    assert(words[0] + words[1] == 3);
    int status = device_status(3);
    pthread_mutex_lock(&lock);
    if (status > 0 && pending > 0) {
        pending--;
        handled++;
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t first, second;
    pending = 1;
    pthread_create(&first, 0, interrupt, 0);
    pthread_create(&second, 0, interrupt, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(pending + handled == 1);
    return 0;
}
