// expect: 567
int main(void) { int s = 0, *keep[3]; for (int i = 0; i < 3; i++) { keep[i] = __builtin_alloca(8); keep[i][1] = i + 5; } for (int i = 0; i < 3; i++) s = s * 10 + keep[i][1]; return s; }
