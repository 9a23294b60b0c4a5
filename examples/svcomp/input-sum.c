// The sum of two small inputs is small.
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
void assume_abort_if_not(int cond) {
  if (!cond)
    abort();
}
extern unsigned __VERIFIER_nondet_uint(void);

int main(void) {
  unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint();
  assume_abort_if_not(a < 100 && b < 100);
  __VERIFIER_assert(a + b < 199);
  return 0;
}
