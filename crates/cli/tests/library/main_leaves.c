// The others go on without the first thread.
// ask: 1 assertion failed: 0
#include <assert.h>
#include <pthread.h>
static void *f(void *unused) { assert(0); return 0; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    pthread_exit(0);
}
