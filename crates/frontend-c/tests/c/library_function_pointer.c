// expect: 6
#include <string.h>
unsigned long (*length)(const char *) = strlen;
int main(void) { return (int)length("hello") + (length == strlen); }
