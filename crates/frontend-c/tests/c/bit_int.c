// expect: -14
unsigned _BitInt(24) g = 0xfffffe; _BitInt(17) h = -5;
int main(void) { g += 3; h *= 3; return (int)g + (int)h; }
