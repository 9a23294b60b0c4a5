/* Both threads read the store of the other one to the same place. */
#include "litmus.h"

static void p0(void) {
  x = 1;
  int a = x;
  out[0] = a;
}

static void p1(void) {
  x = 2;
  int a = x;
  out[1] = a;
}

static void observe(void) {}

LITMUS(p0, p1)
