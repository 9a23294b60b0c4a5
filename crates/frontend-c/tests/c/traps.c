// expect: Assume { condition: 0:1 }
int x = 1;
int main(void) { if (x) __builtin_trap(); return 0; }
