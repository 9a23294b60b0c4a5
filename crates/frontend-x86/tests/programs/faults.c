//! -DWHICH=0 => tso: unsafe
//! -DWHICH=1 => tso: unsafe freed
//! -DWHICH=2 => tso: unsafe
//! -DWHICH=3 => tso: unsafe ud2
//! -DWHICH=4 => tso: unsafe
//! -DWHICH=5 => tso: unsafe
//! -DWHICH=6 => tso: safe
#include <stdlib.h>

int *volatile pointer;
int *volatile writable = (int *)"constant text";
volatile int zero;

__attribute__((noinline)) static int deep(volatile int n) {
  volatile char room[4096];
  room[n & 7] = 1;
  return deep(n + 1) + room[0];
}

int main(void) {
  switch (WHICH) {
  case 0: return *pointer;
  case 1:
    pointer = malloc(4);
    free(pointer);
    return *pointer;
  case 2: *writable = 1; break;
  case 3: __builtin_trap();
  case 4: return 7 / zero;
  case 5: return deep(0);
  }
  return 0;
}
