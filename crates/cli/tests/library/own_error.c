// The name is what counts, not what the function does.
// ask: 1 reach_error is called
// ask -p unreach.prp: 1 reach_error is called
// ask -p race: 0 safe
// ask -p other.prp: 0 safe
// ask -p other.prp -Dreach_error=other_error: 1 other_error is called
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
void reach_error(void) { }
static void *f(void *unused) { x = 1; return 0; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    if (x)
        reach_error();
    pthread_join(t, 0);
    return 0;
}
