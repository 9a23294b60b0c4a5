// expect: 24
double _Complex z = 1.0 + 2.0i;
int main(void) { double _Complex w = z + z; return (int)__real__ w * 10 + (int)__imag__ w; }
