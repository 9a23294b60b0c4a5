/* Stores of two threads, and a reader. */
#include "litmus.h"

static void p0(void) {
  x = 1;
  y = 1;
}

static void p1(void) {
  y = 2;
  z = 1;
}

static void p2(void) {
  int a = z;
  int b = x;
  out[0] = a;
  out[1] = b;
}

static void observe(void) {
  out[2] = y;
}

LITMUS(p0, p1, p2)
