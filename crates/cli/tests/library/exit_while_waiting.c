// The program is over when main exits or returns, whoever waits.
// ask: 0 safe
// ask -DRETURN: 0 safe
// ask -DLEAVE: 1 wait
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *f(void *unused) { pthread_mutex_lock(&m); return 0; }
int main(void)
{
    pthread_t t;
    pthread_mutex_lock(&m);
    pthread_create(&t, 0, f, 0);
#if defined(RETURN)
    return 0;
#elif defined(LEAVE)
    pthread_exit(0);
#else
    exit(0);
#endif
}
