// ask: 1 joined or detached before
// ask -DDETACHED: 1 joined or detached before
// ask -DONCE: 0 safe
#include <pthread.h>
static void *f(void *unused) { return 0; }
int main(void)
{
    pthread_t t, u;
    pthread_create(&t, 0, f, 0);
    pthread_create(&u, 0, f, 0);
    pthread_join(t, 0);
#if defined(DETACHED)
    pthread_detach(u);
    pthread_join(u, 0);
#elif defined(ONCE)
    pthread_join(u, 0);
#else
    pthread_join(t, 0);
#endif
    return 0;
}
