/* A store, and a load that misses it. */
#include "litmus.h"

static void p0(void) {
  x = 1;
  y = 1;
}

static void p1(void) {
  y = 2;
  int a = x;
  out[0] = a;
}

static void observe(void) {
  out[1] = y;
}

LITMUS(p0, p1)
