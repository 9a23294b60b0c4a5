// What ends programs early is there, and nobody calls it.
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
void assume_abort_if_not(int holds) {
  if (!holds)
    abort();
}

struct node {
  struct node *next;
  int value;
};

int main(void) {
  struct node *list = 0;
  for (int i = 0; i < 4; i++) {
    struct node *node = malloc(sizeof *node);
    node->next = list;
    node->value = __VERIFIER_nondet_int();
    list = node;
  }
  while (list) {
    struct node *node = list;
    free(node);
    list = node->next;
  }
  return 0;
}
