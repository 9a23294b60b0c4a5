// expect: memory: an access that is not aligned
int a[4];
int main(void) { *(long *)(a + 1) = 1; return 0; }
// data model: LP64
