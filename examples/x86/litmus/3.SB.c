/* Store buffering with three threads. */
#include "litmus.h"

static void p0(void) {
  x = 1;
  int a = y;
  out[0] = a;
}

static void p1(void) {
  y = 1;
  int a = z;
  out[1] = a;
}

static void p2(void) {
  z = 1;
  int a = x;
  out[2] = a;
}

static void observe(void) {}

LITMUS(p0, p1, p2)
