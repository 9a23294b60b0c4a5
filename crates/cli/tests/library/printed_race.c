// What is printed is read.
// ask: 1 race
#include <pthread.h>
#include <stdio.h>
static char text[4] = "abc";
static void *f(void *unused) { text[0] = 'x'; return 0; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    printf("%s\n", text);
    pthread_join(t, 0);
    return 0;
}
