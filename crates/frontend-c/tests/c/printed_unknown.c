// expect: unknown: what 'sprintf' makes of '%f'
#include <stdio.h>
int main(void) { char b[32]; return sprintf(b, "%f", 0.5); }
