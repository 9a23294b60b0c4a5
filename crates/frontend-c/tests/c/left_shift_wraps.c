// expect: 0
int x = 3;
int main(void) { return (x << 31) != -2147483647 - 1; }
