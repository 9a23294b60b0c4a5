// The product of two inputs of 17 bits.
extern int __VERIFIER_nondet_int(void);
extern void abort(void);
void assume_abort_if_not(int cond) {
  if (!cond)
    abort();
}

int main(void) {
  int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
  assume_abort_if_not(a >= 0 && a <= 65535);
  assume_abort_if_not(b >= 0 && b <= 65536);
  return a * b == 7;
}
