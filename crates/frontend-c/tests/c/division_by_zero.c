// expect: unknown: division by zero
int zero;
int main(void) { return 5 / zero; }
