// An input is counted up only below the largest number.
extern int __VERIFIER_nondet_int(void);

int main(void) {
  int x = __VERIFIER_nondet_int();
  if (x < 2147483647)
    x = x + 1;
  return x > 0;
}
