/* Increments that are atomic. */
#include "litmus.h"

static void p0(void) {
  lock_inc(x);
}

static void p1(void) {
  lock_inc(x);
}

static void observe(void) {
  out[0] = x;
}

LITMUS(p0, p1)
