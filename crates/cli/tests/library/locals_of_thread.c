// The variables of a thread end with it.
// ask: 1 freed
#include <pthread.h>
#include <stdatomic.h>
static _Atomic(int *) p;
static void *f(void *unused) { int x = 1; p = &x; pthread_exit(0); }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    pthread_join(t, 0);
    return *p;
}
