// expect: 5
long double x = 2; int never;
int main(void) { if (never) x *= 2; return 5; }
