// Two threads take two locks, each in its own order.
#include <pthread.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static int moved;

static void move(pthread_mutex_t *from, pthread_mutex_t *to)
{
    pthread_mutex_lock(from);
    pthread_mutex_lock(to);
    moved++;
    pthread_mutex_unlock(to);
    pthread_mutex_unlock(from);
}

static void *there(void *unused)
{
    move(&left, &right);
    return 0;
}

static void *back(void *unused)
{
    move(&right, &left);
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, there, 0);
    pthread_create(&b, 0, back, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
