// A sum of two inputs in a long long: a long has 32 bits here.
extern int __VERIFIER_nondet_int(void);

int main(void) {
  int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
  long long sum = (long long)a + b;
  return sum == 5;
}
