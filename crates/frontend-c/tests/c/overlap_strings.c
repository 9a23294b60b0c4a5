// expect: memory: source and destination of a copy overlap
#include <string.h>
int main(void) { char b[10] = "abcdefgh"; strcpy(b, b + 1); return 0; }
