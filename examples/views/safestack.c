/* BUG: a stack of three free numbers without locks. A number that was taken and given back while another thread was about to
 * take it is handed out twice, after many switches between three threads. ROUNDS is how often each thread takes a number. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <assert.h>

#ifndef ROUNDS
#define ROUNDS 2
#endif

enum { THREADS = 3, NONE = -1 };

static atomic_int next[THREADS], head, count, owner[THREADS];

static int take(void) {
    while (atomic_load(&count) > 1) {
        int first = atomic_load(&head);
        int second = atomic_exchange(&next[first], NONE);
        if (second >= 0) {
            int expected = first;
            if (atomic_compare_exchange_strong(&head, &expected, second)) {
                atomic_fetch_sub(&count, 1);
                return first;
            }
            atomic_exchange(&next[first], second);
        }
        return NONE;
    }
    return NONE;
}

static void give(int number) {
    int first = atomic_load(&head);
    do
        atomic_store(&next[number], first);
    while (!atomic_compare_exchange_strong(&head, &first, number));
    atomic_fetch_add(&count, 1);
}

static void *body(void *unused) {
    int own = (int)(long)unused;
    for (int i = 0; i < ROUNDS; i++) {
        int number = take();
        if (number < 0)
            continue;
        atomic_store(&owner[number], own);
        assert(atomic_load(&owner[number]) == own);
        give(number);
    }
    return NULL;
}

int main(void) {
    for (int i = 0; i < THREADS; i++)
        atomic_store(&next[i], i + 1 < THREADS ? i + 1 : NONE);
    atomic_store(&count, THREADS);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, body, (void *)(long)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}
