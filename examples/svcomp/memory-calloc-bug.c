// Memory of malloc may hold anything.
#include <stdlib.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}

int main(void) {
  int *p = malloc(2 * sizeof *p);
  if (p) {
    __VERIFIER_assert(p[1] == 0);
    free(p);
  }
  return 0;
}
