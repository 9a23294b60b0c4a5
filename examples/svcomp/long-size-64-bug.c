// How many bytes a pointer has in the other data model.
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}

int main(void) {
  __VERIFIER_assert(sizeof(void *) == 4 && sizeof(int) == 4);
  return 0;
}
