// A sum of two inputs of 32 bits in an int.
extern int __VERIFIER_nondet_int(void);

int main(void) {
  int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
  int sum = (int)a + b;
  return sum == 5;
}
