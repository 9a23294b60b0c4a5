// expect: memory: uninitialised value used
int main(void) { int x; if (x > 3) return 1; return 0; }
