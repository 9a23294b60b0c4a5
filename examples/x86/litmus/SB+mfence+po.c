/* Store buffering with one fence. */
#include "litmus.h"

static void p0(void) {
  x = 1;
  mfence();
  int a = y;
  out[0] = a;
}

static void p1(void) {
  y = 1;
  int a = x;
  out[1] = a;
}

static void observe(void) {}

LITMUS(p0, p1)
