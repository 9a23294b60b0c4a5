// expect: unknown: a floating-point number that no integer of the type is
double d = -1.0;
int main(void) { return (unsigned)d; }
