// A pointer behind an int begins at 8.
#include <stddef.h>
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
struct s {
  int a;
  void *p;
  long l;
};

int main(void) {
  __VERIFIER_assert(offsetof(struct s, p) == 8 && sizeof(struct s) == 24);
  return 0;
}
