// A thread may fail before main exits.
// ask: 1 assertion failed: 0
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static void *f(void *unused) { assert(0); return 0; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    exit(0);
}
