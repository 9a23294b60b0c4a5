// A variable that is set on every way.
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
extern int __VERIFIER_nondet_int(void);

int main(void) {
  int r;
  if (__VERIFIER_nondet_int() > 1)
    r = 1;
  else
    r = 2;
  __VERIFIER_assert(r == 1 || r == 2);
  return 0;
}
