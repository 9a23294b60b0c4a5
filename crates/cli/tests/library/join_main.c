// Nobody gets past joining the first thread, unless it leaves the others alone.
// ask: 0 safe
// ask -DBOTH: 1 wait for one another
// ask -DLEAVE: 1 assertion failed: 0
#include <assert.h>
#include <pthread.h>
static pthread_t first;
static void *f(void *unused) { pthread_join(first, 0); assert(0); return 0; }
int main(void)
{
    pthread_t t;
    first = pthread_self();
    pthread_create(&t, 0, f, 0);
#ifdef LEAVE
    pthread_exit(0);
#endif
#ifdef BOTH
    pthread_join(t, 0);
#endif
    return 0;
}
