// expect: memory: printf: the format takes 2 arguments, there are 1
#include <stdio.h>
int main(void) { printf("%d %s\n", 3); return 0; }
