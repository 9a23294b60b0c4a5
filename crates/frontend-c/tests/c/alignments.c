// expect: memory: an alignment that is no power of two
#include <stdlib.h>
int main(void) { free(aligned_alloc(3, 9)); return 0; }
