// expect: unknown: code that the program says is unreachable
int x = 1;
int main(void) { if (x) __builtin_unreachable(); return 0; }
