// A sum of two inputs of 32 bits in a long of 64.
extern int __VERIFIER_nondet_int(void);

int main(void) {
  int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
  long sum = (long)a + b;
  return sum == 5;
}
