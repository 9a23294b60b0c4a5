/* N threads write the same. Whose write is read in the end makes N execution graphs, and one view: there is nothing
 * else to read. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <assert.h>

#ifndef N
#define N 5
#endif

static atomic_int x;

static void *body(void *unused) {
    x = 1;
    return unused;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, body, (void *)(long)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(x == 1);
}
