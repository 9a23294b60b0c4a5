/* A thread reads what it has stored before others see it (Intel and AMD manuals, 2008). */
#include "litmus.h"

static void p0(void) {
  x = 1;
  int a = x;
  int b = y;
  out[0] = a;
  out[1] = b;
}

static void p1(void) {
  y = 2;
  x = 2;
}

static void observe(void) {
  out[2] = x;
}

LITMUS(p0, p1)
