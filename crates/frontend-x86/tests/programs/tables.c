//! => tso: safe
//! -fno-pie -no-pie => tso: safe
//! -DWRONG => tso: unsafe name(9)
#include <assert.h>

__attribute__((noinline)) static int name(int n) {
  switch (n) {
  case 0: return 100;
  case 1: return 211;
  case 2: return 322;
  case 3: return 13;
  case 4: return 544;
  case 5: return 65;
  case 6: return 776;
  case 7: return 8;
  case 8: return 98;
  case 9: return 10;
  default: return -1;
  }
}

volatile int effects;

__attribute__((noinline)) static void act(int n) {
  switch (n) {
  case 10: effects += 1; break;
  case 11: effects += 20; /* fall through */
  case 12: effects += 300; break;
  case 13: effects *= 2; break;
  case 14: effects -= 5; break;
  case 15: effects ^= 0xff; break;
  case 16: effects = 9; break;
  default: effects = 0;
  }
}

__attribute__((noinline)) static int threaded(const char *program) {
  static void *const labels[] = {&&stop, &&add, &&twice};
  int value = 1;
  goto *labels[(int)*program++];
add:
  value += 3;
  goto *labels[(int)*program++];
twice:
  value *= 2;
  goto *labels[(int)*program++];
stop:
  return value;
}

int main(void) {
  static const int expected[] = {100, 211, 322, 13, 544, 65, 776, 8, 98, 10, -1};
  static const char program[] = {1, 2, 1, 0};
  volatile int n;
  for (n = 0; n < 11; n++)
    assert(name(n) == expected[n]);
  for (n = 10; n < 16; n++)
    act(n);
  assert(effects == ((1 + 320 + 300) * 2 - 5 ^ 0xff));
  assert(threaded(program) == 11);
#ifdef WRONG
  assert(name(9) == 11);
#endif
  return 0;
}
