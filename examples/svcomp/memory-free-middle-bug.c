// What is freed is the middle of an object.
#include <stdlib.h>

int main(void) {
  char *p = malloc(4);
  if (!p)
    return 0;
  free(p + 2);
  return 0;
}
