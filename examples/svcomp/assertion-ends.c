// An assertion that fails ends the program, and is no error that is asked for.
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
void reach_error(void) { assert(0); }

int main(void) {
  int input = __VERIFIER_nondet_int();
  assert(input == 3);
  if (input != 3)
    reach_error();
  return 0;
}
