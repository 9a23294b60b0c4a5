/* A store that comes before one that was seen. */
#include "litmus.h"

static void p0(void) {
  x = 2;
  y = 1;
}

static void p1(void) {
  int a = y;
  x = 1;
  out[0] = a;
}

static void observe(void) {
  out[1] = x;
}

LITMUS(p0, p1)
