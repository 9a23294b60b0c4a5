// expect: 7
__attribute__((weak)) int maybe(void); __attribute__((weak)) int there(void) { return 7; }
int main(void) { return there(); }
