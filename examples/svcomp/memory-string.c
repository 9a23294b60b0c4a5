// A text of five letters is copied to six bytes.
#include <string.h>
#include <stdlib.h>

int main(void) {
  char *p = malloc(6);
  if (!p)
    return 0;
  strcpy(p, "hello");
  free(p);
  return 0;
}
