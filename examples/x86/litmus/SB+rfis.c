/* Store buffering where threads read what they have stored. */
#include "litmus.h"

static void p0(void) {
  x = 1;
  int a = x;
  int b = y;
  out[0] = a;
  out[1] = b;
}

static void p1(void) {
  y = 1;
  int a = y;
  int b = x;
  out[2] = a;
  out[3] = b;
}

static void observe(void) {}

LITMUS(p0, p1)
