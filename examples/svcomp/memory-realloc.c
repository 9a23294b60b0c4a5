// After realloc the new address is freed.
#include <stdlib.h>

int main(void) {
  char *p = malloc(2), *q;
  if (!p)
    return 0;
  q = realloc(p, 4);
  if (!q) {
    free(p);
    return 0;
  }
  free(q);

  return 0;
}
