// expect: unknown: arguments beyond the fixed ones
#include <stdarg.h>
int sum(int n, ...) { if (n == 0) return 4; va_list ap; va_start(ap, n); int s = va_arg(ap, int); va_end(ap); return s; }
int main(void) { return sum(0) + sum(1, 5); }
