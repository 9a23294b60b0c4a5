/* BUG: the first thread does not wait for the last worker, and may read what that one is writing.
   Otherwise this is worker-pool.c. */
#include <pthread.h>
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);

enum { WORKERS = 4 };

struct task {
    int size;
    struct task *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct task *tasks;
static int done[WORKERS];

static void add(int size) {
    struct task *task = malloc(sizeof *task);
    task->size = size;
    pthread_mutex_lock(&lock);
    task->next = tasks;
    tasks = task;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *argument) {
    int me = (int)(long)argument;
    for (;;) {
        pthread_mutex_lock(&lock);
        struct task *task = tasks;
        int size = 0;
        if (task) {
            tasks = task->next;
            size = task->size;
        }
        pthread_mutex_unlock(&lock);
        if (!task)
            return 0;
        done[me] += size;
        if (size > 1)
            add(size / 2);
    }
}

int main(void) {
    pthread_t workers[WORKERS];
    while (__VERIFIER_nondet_int())
        add(__VERIFIER_nondet_int());
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], 0, worker, (void *)i);
    for (int i = 0; i < WORKERS - 1; i++)
        pthread_join(workers[i], 0);
    int sum = 0;
    for (int i = 0; i < WORKERS; i++)
        sum += done[i];
    return sum;
}
