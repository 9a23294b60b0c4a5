// A text of five letters is copied to five bytes.
#include <string.h>
#include <stdlib.h>

int main(void) {
  char *p = malloc(5);
  if (!p)
    return 0;
  strcpy(p, "hello");
  free(p);
  return 0;
}
