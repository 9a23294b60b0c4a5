/* Store buffering with fences that order loads only. */
#include "litmus.h"

static void p0(void) {
  x = 1;
  lfence();
  int a = y;
  out[0] = a;
}

static void p1(void) {
  y = 1;
  lfence();
  int a = x;
  out[1] = a;
}

static void observe(void) {}

LITMUS(p0, p1)
