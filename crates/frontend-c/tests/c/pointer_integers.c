// expect: 82
#include <stdint.h>
int a[2] = {7, 8};
int main(void) {
    uintptr_t p = (uintptr_t)&a[0]; p |= 1; int *q = (int *)(p & ~(uintptr_t)1); q = (int *)((char *)q + 4);
    return *q * 10 + (int)(p & 1) + ((void *)q == &a[1]);
}
