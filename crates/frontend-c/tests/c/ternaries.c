// expect: 252
int f(int a, int b) { return a > b ? a : b; }
int side; int bump(void) { return ++side; }
int main(void) { int r = f(3, 4) + (side ? 100 : bump()) + (side ? bump() * 10 : 5); return r * 10 + (1 && bump()) + (0 && bump()) + (0 || side) + !side; }
