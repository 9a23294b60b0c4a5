/* Read-to-write causality with a fence. */
#include "litmus.h"

static void p0(void) {
  x = 1;
}

static void p1(void) {
  int a = x;
  int b = y;
  out[0] = a;
  out[1] = b;
}

static void p2(void) {
  y = 1;
  mfence();
  int a = x;
  out[2] = a;
}

static void observe(void) {}

LITMUS(p0, p1, p2)
