// expect: 1709
typedef int v4 __attribute__((vector_size(16))); typedef float f2 __attribute__((vector_size(8)));
v4 g = {1, 2, 3, 4};
int main(void) { v4 a = g + g * 3; a[1] = 9; v4 b = a > 8; f2 f = {1.5f, 2.5f}; f += f; v4 c = __builtin_shufflevector(a, b, 0, 5, 2, 7); return a[0] + a[1] * 10 + a[3] * 100 + b[3] + c[2] + c[3] + (int)f[1]; }
