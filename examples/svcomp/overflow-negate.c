// The absolute value of an input other than the smallest.
extern int __VERIFIER_nondet_int(void);
extern void abort(void);
void assume_abort_if_not(int cond) {
  if (!cond)
    abort();
}

int main(void) {
  int x = __VERIFIER_nondet_int();
  assume_abort_if_not(x != -2147483647 - 1);
  return x < 0 ? -x : x;
}
