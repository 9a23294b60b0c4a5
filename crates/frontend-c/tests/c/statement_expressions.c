// expect: 55
#define MAX(a, b) ({ __auto_type _a = (a); __auto_type _b = (b); _a > _b ? _a : _b; })
int main(void) { int x = 3; return MAX(x++, 2) * 10 + x + __builtin_choose_expr(1, 5, "x") + _Generic(x, int: 7, default: 0) + __builtin_types_compatible_p(int, int) + __builtin_offsetof(struct { int a; long b; }, b); }
// data model: LP64
