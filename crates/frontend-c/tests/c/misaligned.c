// expect: memory: an access that is not aligned
_Alignas(8) char b[16];
int read(int *p) { return *p; }
int main(void) { return read((int *)(b + 1)); }
