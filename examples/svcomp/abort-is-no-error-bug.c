// A program that aborts calls reach_error.
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
void reach_error(void) {}

int main(void) {
  if (__VERIFIER_nondet_int())
    abort();
  reach_error();
  return 0;
}
