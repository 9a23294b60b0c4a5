/* Message passing. */
#include "litmus.h"

static void p0(void) {
  x = 1;
  y = 1;
}

static void p1(void) {
  int a = y;
  int b = x;
  out[0] = a;
  out[1] = b;
}

static void observe(void) {}

LITMUS(p0, p1)
