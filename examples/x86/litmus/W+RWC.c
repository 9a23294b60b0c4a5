/* Message passing to a thread that a third one races with. */
#include "litmus.h"

static void p0(void) {
  x = 1;
  y = 1;
}

static void p1(void) {
  int a = y;
  int b = z;
  out[0] = a;
  out[1] = b;
}

static void p2(void) {
  z = 1;
  int a = x;
  out[2] = a;
}

static void observe(void) {}

LITMUS(p0, p1, p2)
