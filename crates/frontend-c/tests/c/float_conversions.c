// expect: -301069
int main(void) {
    int i = -7; unsigned u = 4000000000u; long l = 1L << 53; unsigned long ul = ~0ul; short s = -3; unsigned char c = 200;
    double a = i, b = u, e = l, g = ul, h = s, k = c; float x = i, y = u, z = (float)ul;
    return (int)a + (int)(b / 1e6) + (int)(e / 1e15) + (int)(g / 1e18) + (int)h + (int)k + (int)x + (int)(y / 1e7f) + (int)(z / 1e18f)
         + (int)(unsigned)3.99e9 / 1000 + (int)(unsigned long)1e15 % 1000 + (signed char)-5.7 + (unsigned char)250.9 + (int)(float)1e-3 + (_Bool)0.5;
}
// data model: LP64
