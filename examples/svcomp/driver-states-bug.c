// A driver goes from state to state by a table of functions; one way leads past its start.
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
extern int __VERIFIER_nondet_int(void);
int started;

int idle(void) {
  return __VERIFIER_nondet_int() ? 1 : 2;
}

int start(void) {
  started = 1;
  return 2;
}

int run(void) {
  __VERIFIER_assert(started);
  return 0;
}

int (*const states[3])(void) = {idle, start, run};

int main(void) {
  int state = 0;
  for (int i = 0; i < 4; i++)
    state = states[state]();
  return 0;
}
