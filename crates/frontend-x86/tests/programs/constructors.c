//! => tso: safe
#include <assert.h>
#include <stdlib.h>

int order[3], next;

__attribute__((constructor(300))) static void third(void) { order[next++] = 3; }
__attribute__((constructor(101))) static void first(void) { order[next++] = 1; }
__attribute__((constructor(200))) static void second(void) { order[next++] = 2; }

static void at_end(void) { assert(next == 4); }

int main(void) {
  assert(next == 3 && order[0] == 1 && order[1] == 2 && order[2] == 3);
  atexit(at_end);
  next = 4;
  return 0;
}
