// check: overflow
// expect: 0
double d = 2147483647.9, e = -2147483648.9, f = -0.9, g = -9223372036854775808.0, h = 18446744073709549568.0;
float s = 255.9f;
int main(void) {
    return (int)d != 2147483647 || (int)e != -2147483647 - 1 || (unsigned)f != 0 || (long)g != -9223372036854775807 - 1
        || (unsigned long)h != 18446744073709549568ul || (unsigned char)s != 255;
}
// data model: LP64
