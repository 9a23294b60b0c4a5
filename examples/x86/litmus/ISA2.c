/* Message passing by way of a third thread. */
#include "litmus.h"

static void p0(void) {
  x = 1;
  y = 1;
}

static void p1(void) {
  int a = y;
  z = 1;
  out[0] = a;
}

static void p2(void) {
  int a = z;
  int b = x;
  out[1] = a;
  out[2] = b;
}

static void observe(void) {}

LITMUS(p0, p1, p2)
