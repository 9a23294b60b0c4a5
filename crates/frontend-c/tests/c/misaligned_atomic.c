// expect: memory: an access that is not aligned
#include <stdatomic.h>
_Alignas(8) char b[16];
int main(void) { atomic_int *p = (atomic_int *)(b + 2); return atomic_fetch_add(p, 1); }
