/* N threads take a ticket each, twice. Any order may come out, and the second has nothing to do with the first: (N!)^2 views, and as
 * many execution graphs. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef N
#define N 3
#endif

static atomic_int first, second;

static void *body(void *unused) {
    atomic_fetch_add(&first, 1);
    atomic_fetch_add(&second, 1);
    return unused;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, body, (void *)(long)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
}
