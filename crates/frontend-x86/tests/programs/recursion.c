//! => tso: safe
#include <assert.h>
#include <stdint.h>

__attribute__((noinline)) static int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static int is_even(unsigned n);
__attribute__((noinline)) static int is_odd(unsigned n) { return n == 0 ? 0 : is_even(n - 1); }
static int is_even(unsigned n) { return n == 0 ? 1 : is_odd(n - 1); }

struct pair {
  int64_t low, high;
};

__attribute__((noinline)) static struct pair both(int64_t a, int64_t b) {
  return (struct pair){a < b ? a : b, a < b ? b : a};
}

struct large {
  int values[12];
};

__attribute__((noinline)) static struct large make(int first) {
  struct large result;
  for (int i = 0; i < 12; i++)
    result.values[i] = first + i;
  return result;
}

__attribute__((noinline)) static int many(int a, int b, int c, int d, int e, int f, int g, int h) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

int main(void) {
  volatile int n = 8;
  assert(fibonacci(n) == 21);
  assert(is_even(n) && !is_odd(n));
  struct pair pair = both(n, -n);
  assert(pair.low == -8 && pair.high == 8);
  assert(make(n).values[11] == 19);
  assert(many(1, 2, 3, 4, 5, 6, 7, n) == 204);
  return 0;
}
