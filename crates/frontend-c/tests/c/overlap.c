// expect: memory: source and destination of a copy overlap
#include <string.h>
int main(void) { char b[10] = "abcdefgh"; memcpy(b + 1, b, 4); return 0; }
