// expect: 3004
int main(void) { int a = 7; a += 3; a -= 1; a *= 6; a /= 5; a %= 7; a <<= 4; a >>= 1; a |= 5; a &= 29; a ^= 3; unsigned char c = 250; c += 10; return a * 100 + c; }
