// The absolute value of an input.
extern int __VERIFIER_nondet_int(void);
extern void abort(void);
void assume_abort_if_not(int cond) {
  if (!cond)
    abort();
}

int main(void) {
  int x = __VERIFIER_nondet_int();

  return x < 0 ? -x : x;
}
