// Two threads take turns in counting on from one another: sixteen steps end at 22.
extern void abort(void);
void reach_error() {}
#include <pthread.h>

int left = 3, right = 6;

void *up_left(void *arg) { for (int k = 0; k < 8; k++) left = right + 1; return 0; }
void *up_right(void *arg) { for (int k = 0; k < 8; k++) right = left + 1; return 0; }

int main() {
  pthread_t one, other;
  pthread_create(&one, 0, up_left, 0);
  pthread_create(&other, 0, up_right, 0);
  if (left > 22 || right > 22) { reach_error(); abort(); }
  return 0;
}
