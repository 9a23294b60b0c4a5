// Each thread has a row of a matrix.
#include <pthread.h>
int matrix[4][4];

void *fill(void *arg) {
  long row = (long)arg;
  for (int i = 0; i < 4; i++)
    matrix[row][i] = i;
  return 0;
}

int main(void) {
  pthread_t threads[4];
  for (long row = 0; row < 4; row++)
    pthread_create(&threads[row], 0, fill, (void *)row);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
  return 0;
}
