// The program has a function of its own that never calls reach_error.
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
void reach_error() { }

static void fail(int code) {
  if (code > 255)
    reach_error();
}

int main() {
  unsigned char c = __VERIFIER_nondet_int();
  fail(c);
  return 0;
}
