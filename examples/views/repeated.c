/* Two threads write 1 again and again, two others look at what the one writes and write what the other does. With N
 * rounds there are 4 N ways to read, and no telling how many executions. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef N
#define N 3
#endif

static atomic_int x, y;

static void *write_x(void *unused) {
    for (int i = 0; i < N; i++)
        x = 1;
    return unused;
}

static void *write_y(void *unused) {
    for (int i = 0; i < N; i++)
        y = 1;
    return unused;
}

static void *look_at_y(void *unused) {
    for (int i = 0; i < N; i++) {
        int seen = y;
        (void)seen;
        x = 1;
    }
    return unused;
}

static void *look_at_x(void *unused) {
    for (int i = 0; i < N; i++) {
        int seen = x;
        (void)seen;
        y = 1;
    }
    return unused;
}

int main(void) {
    void *(*bodies[4])(void *) = {write_x, look_at_y, look_at_x, write_y};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, bodies[i], NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}
