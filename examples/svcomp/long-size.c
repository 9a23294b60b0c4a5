// How many bytes a long has in this data model.
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}

int main(void) {
  __VERIFIER_assert(sizeof(long) == 4 && sizeof(long long) == 8);
  return 0;
}
