// expect: -4
int q(int a, int b) { return a / b * 100 + a % b; }
int main(void) { return q(7, 2) + q(-7, 2) * 3 + q(7, -2) * 5 + q(-7, -2) * 7; }
