/* Message passing with fences. */
#include "litmus.h"

static void p0(void) {
  x = 1;
  mfence();
  y = 1;
}

static void p1(void) {
  int a = y;
  mfence();
  int b = x;
  out[0] = a;
  out[1] = b;
}

static void observe(void) {}

LITMUS(p0, p1)
