// An input is a length; it is not compared with the size of the buffer.
#include <string.h>
extern unsigned char __VERIFIER_nondet_uchar(void);
char buffer[8], source[8];

int main(void) {
  unsigned n = __VERIFIER_nondet_uchar() % 10;

  for (unsigned i = 0; i < n; i++)
    buffer[i] = source[i];
  return 0;
}
