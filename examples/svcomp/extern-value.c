// A function without a body gives a value that is masked.
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
extern int read_register(void);

int main(void) {
  int v = read_register() & 3;
  __VERIFIER_assert(v >= 0 && v < 4);
  return 0;
}
