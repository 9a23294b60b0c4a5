// expect: 676523
int main(void) {
    int a = 0, b = 1;
    for (int i = 0; i < 20; i++) { int t = a + b; a = b; b = t; }
    int x = 1, y = 2, z = 3;
    for (int i = 0; i < 7; i++) { int t = x; x = y; y = z; z = t; }
    return a * 100 + x * 10 + y;
}
