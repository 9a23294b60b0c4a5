// expect: 385
long f(int a, char b, long c, double d, float e, short g, int h, int i, int j, double k) { return a + b * 2 + c * 3 + (long)d * 4 + (long)e * 5 + g * 6 + h * 7 + i * 8 + j * 9 + (long)k * 10; }
int main(void) { return (int)f(1, 2, 3, 4.5, 5.5f, 6, 7, 8, 9, 10.5); }
