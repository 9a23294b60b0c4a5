// A truth value is 0 or 1.
#include <stdbool.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
extern bool __VERIFIER_nondet_bool(void);

int main(void) {
  bool b = __VERIFIER_nondet_bool();
  int i = b;
  __VERIFIER_assert(i == 0 || i == 1);
  return 0;
}
