// expect: assert: a trap is reached
int x = 1;
int main(void) { if (x) __builtin_trap(); return 0; }
