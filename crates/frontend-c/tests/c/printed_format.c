// expect: unknown: what 'snprintf' makes of a format that is not constant
#include <stdio.h>
int main(int argc, char **argv) { char b[32]; snprintf(b, sizeof b, argv[0]); return b[0]; }
