// The program has a function of its own that sometimes calls reach_error.
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
void reach_error() { }

static void fail(int code) {
  if (code > 200)
    reach_error();
}

int main() {
  unsigned char c = __VERIFIER_nondet_int();
  fail(c);
  return 0;
}
