// What is freed is the start of an object.
#include <stdlib.h>

int main(void) {
  char *p = malloc(4);
  if (!p)
    return 0;
  free(p);
  return 0;
}
