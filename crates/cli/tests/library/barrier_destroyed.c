// A barrier is destroyed while others may still come.
// ask: 1 barrier is
// ask -DJOINED: 0 safe
#include <pthread.h>
static pthread_barrier_t b;
static void *come(void *unused) { pthread_barrier_wait(&b); return 0; }
static void *destroy(void *unused) { pthread_barrier_destroy(&b); return 0; }
int main(void)
{
    pthread_t t, u;
    pthread_barrier_init(&b, 0, 1);
    pthread_create(&t, 0, come, 0);
#ifdef JOINED
    pthread_join(t, 0);
#endif
    pthread_create(&u, 0, destroy, 0);
#ifndef JOINED
    pthread_join(t, 0);
#endif
    pthread_join(u, 0);
    return 0;
}
