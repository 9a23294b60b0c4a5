// The bytes of a word, of which the lowest comes first.
#include <pthread.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
union {
  unsigned word;
  unsigned char byte[4];
} u;

void *write(void *arg) {
  u.word = 0x01020304;
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, write, 0);
  pthread_join(t, 0);
  __VERIFIER_assert(u.byte[0] == 4 && u.byte[2] == 2);
  return 0;
}
