// An input that was checked on both sides is an index.
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
extern int __VERIFIER_nondet_int(void);
int table[8];

int main(void) {
  int i = __VERIFIER_nondet_int();
  if (i < 8 && i >= 0)
    __VERIFIER_assert(i >= 0 && table[i & 7] == 0);
  return 0;
}
