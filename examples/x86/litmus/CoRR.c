/* Two reads of one place. */
#include "litmus.h"

static void p0(void) {
  x = 1;
}

static void p1(void) {
  int a = x;
  int b = x;
  out[0] = a;
  out[1] = b;
}

static void observe(void) {}

LITMUS(p0, p1)
