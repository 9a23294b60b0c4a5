/* Two threads store to two places in opposite orders. */
#include "litmus.h"

static void p0(void) {
  x = 2;
  y = 1;
}

static void p1(void) {
  y = 2;
  x = 1;
}

static void observe(void) {
  out[0] = x;
  out[1] = y;
}

LITMUS(p0, p1)
