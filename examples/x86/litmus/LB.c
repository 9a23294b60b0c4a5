/* Load buffering. */
#include "litmus.h"

static void p0(void) {
  int a = x;
  y = 1;
  out[0] = a;
}

static void p1(void) {
  int a = y;
  x = 1;
  out[1] = a;
}

static void observe(void) {}

LITMUS(p0, p1)
