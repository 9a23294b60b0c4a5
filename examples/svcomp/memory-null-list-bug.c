// A search in a list that stops only where it finds.
#include <stdlib.h>
struct node {
  int key;
  struct node *next;
} second = {2, 0}, first = {1, &second};
extern int __VERIFIER_nondet_int(void);

int main(void) {
  int key = __VERIFIER_nondet_int();
  struct node *p = &first;
  while (p->key != key)
    p = p->next;
  return 0;
}
