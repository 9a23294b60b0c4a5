// The smallest number is divided by any input but 0.
extern int __VERIFIER_nondet_int(void);

int main(void) {
  int d = __VERIFIER_nondet_int();
  if (d == 0)
    return 0;
  return (-2147483647 - 1) / d;
}
