// expect: 14062
#include <stdbool.h>
int main(void) {
    signed char c = 127; c++; unsigned char u = 0; u--; short s = (short)70000; bool b = 256; long long l = c; unsigned ui = c;
    return c + u * 2 + s * 3 + b * 5 + (int)(l >> 3) + (int)(ui >> 24) + (char)300;
}
