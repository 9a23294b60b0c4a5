// The greatest common divisor of two small inputs divides the sum of one and 1.
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
  assume_abort_if_not(a >= 1 && a <= 4 && b >= 1 && b <= 4);
  unsigned x = a, y = b;
  while (y) {
    unsigned r = x % y;
    x = y;
    y = r;
  }
  __VERIFIER_assert(a % x == 0 && (b + 1) % x == 0);
  return 0;
}
