// The smallest number is not divided by -1.
extern int __VERIFIER_nondet_int(void);

int main(void) {
  int d = __VERIFIER_nondet_int();
  if (d == 0 || d == -1)
    return 0;
  return (-2147483647 - 1) / d;
}
