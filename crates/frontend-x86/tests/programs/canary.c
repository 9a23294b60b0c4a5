//! -fstack-protector-all => tso: safe
//! -fstack-protector-all -DSMASH -fno-builtin -U_FORTIFY_SOURCE => tso: unsafe stack smashing
#include <assert.h>
#include <string.h>

volatile unsigned long length = 8;

__attribute__((noinline)) static int fill(void) {
  char buffer[16];
#ifdef SMASH
  volatile char *p = buffer;
  for (unsigned long i = 0; i < 32; i++)
    p[i] = 1;
#else
  memset(buffer, 1, length);
#endif
  return ((volatile char *)buffer)[3];
}

int main(void) {
  assert(fill() == 1);
  return 0;
}
