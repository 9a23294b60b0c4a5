// To a property of SV-COMP, abort is an end like any other.
// ask: 1 abort is called
// ask -DTRAP: 1 a trap is reached
// ask -p unreach.prp: 0 safe
// ask -p unreach.prp -DTRAP: 0 safe
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#ifdef TRAP
#define abort __builtin_trap
#endif
static atomic_int x;
static void *f(void *unused) { x = 1; return 0; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    if (x)
        abort();
    pthread_join(t, 0);
    return 0;
}
