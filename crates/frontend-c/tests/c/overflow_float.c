// check: overflow
// expect: overflow: a floating-point number that no integer of the type is
double d = 2147483648.0;
int main(void) { return (int)d; }
