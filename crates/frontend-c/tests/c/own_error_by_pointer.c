// expect: assert: __VERIFIER_error is called
int reached;
void __VERIFIER_error(void) { reached = 1; }
void (*volatile f)(void) = __VERIFIER_error;
int main(void) { f(); return 0; }
