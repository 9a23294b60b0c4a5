// Whoever exits takes all threads with it: nobody gets past the join, and nobody waits for ever.
// ask: 0 safe
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static void *f(void *unused) { exit(0); }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    pthread_join(t, 0);
    assert(0);
}
