// An input chooses a cell of the heap, modulo how many there are.
#include <stdlib.h>
extern unsigned __VERIFIER_nondet_uint(void);

int main(void) {
  unsigned i = __VERIFIER_nondet_uint();
  int *p = malloc(4 * sizeof *p);
  if (!p)
    return 0;
  if (i >= 4)
    i = 0;
  p[i] = 1;
  free(p);
  return 0;
}
