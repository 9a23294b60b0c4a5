/* BUG: the main thread publishes the address of its thread-local variable, and goes on changing
 * it while the other thread looks. */
#include <assert.h>
#include <pthread.h>

static _Thread_local int mine;

static void *guest(void *argument) {
    int *theirs = argument;
    assert(*theirs == 0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, guest, &mine);
    mine = 1;
    pthread_join(thread, NULL);
}
