// expect: 4
#include <genmc.h>
#include <dat3m.h>
int x = 3;
int main(void) { __VERIFIER_loop_bound(3); __VERIFIER_assume(x == 3); __VERIFIER_optional(x = 4); __VERIFIER_local_write(x += 1); await_while(x != 4) {} return x; }
