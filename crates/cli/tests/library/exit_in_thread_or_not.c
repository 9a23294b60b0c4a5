// Some executions end in the thread, others in main.
// ask: 0 safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int x;
static void *f(void *unused) { if (x) exit(0); return 0; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    x = 1;
    pthread_join(t, 0);
    return 0;
}
