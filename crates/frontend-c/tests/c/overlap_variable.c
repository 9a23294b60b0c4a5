// expect: memory: source and destination of a copy overlap
#include <string.h>
volatile unsigned long n = 4;
int main(void) { char b[10] = "abcdefgh"; memcpy(b, b + 3, n); return 0; }
