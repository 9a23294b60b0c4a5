// check: overflow
// expect: overflow: a floating-point number that no integer of the type is
float d = 0.0f;
int main(void) { return (unsigned char)(d / d); }
