//! -fstack-protector-all => tso: safe
//! -fstack-protector-all -DSMASH -fno-builtin -U_FORTIFY_SOURCE => tso: unsafe stack smashing
#include <assert.h>
#include <string.h>

volatile unsigned long length = 8;

__attribute__((noinline)) static void overrun(volatile char *p) {
  for (unsigned long i = 0; i < 4 * length; i++)
    p[i] = 1;
}

__attribute__((noinline)) static int fill(void) {
  char buffer[16];
#ifdef SMASH
  overrun(buffer);
#else
  memset(buffer, 1, length);
#endif
  return ((volatile char *)buffer)[3];
}

int main(void) {
  assert(fill() == 1);
  return 0;
}
