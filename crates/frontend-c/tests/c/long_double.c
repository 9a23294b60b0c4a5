// expect: unknown: arithmetic on numbers of type 'long double'
long double x = 2;
int main(void) { long double y = x; return (int)(y * 3); }
