// A list of two nodes of which one is freed.
#include <stdlib.h>
struct node {
  struct node *next;
};

int main(void) {
  struct node *a = malloc(sizeof *a), *b = malloc(sizeof *b);
  if (!a || !b) {
    free(a);
    free(b);
    return 0;
  }
  a->next = b;
  b->next = 0;
  free(a);
  return 0;
}
