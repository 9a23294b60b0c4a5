// Three inputs are in order after two exchanges of neighbours.
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
extern int __VERIFIER_nondet_int(void);

static void order(int *a, int *b) {
  if (*a > *b) {
    int t = *a;
    *a = *b;
    *b = t;
  }
}

int main(void) {
  int v[3];
  for (int i = 0; i < 3; i++)
    v[i] = __VERIFIER_nondet_int();
  order(&v[0], &v[1]);
  order(&v[1], &v[2]);

  __VERIFIER_assert(v[0] <= v[1] && v[1] <= v[2]);
  return 0;
}
