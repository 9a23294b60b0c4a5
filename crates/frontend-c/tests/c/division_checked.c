// expect: overflow: division by zero
// check: overflow
int zero;
int main(void) { return 5 % zero; }
