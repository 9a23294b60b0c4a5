/* Increments that are not atomic. */
#include "litmus.h"

static void p0(void) {
  inc(x);
}

static void p1(void) {
  inc(x);
}

static void observe(void) {
  out[0] = x;
}

LITMUS(p0, p1)
