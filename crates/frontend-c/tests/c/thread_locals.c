// expect: 1733
_Thread_local int counter = 5; static __thread struct { int a; long b; } s = {1, 2}; __thread char text[5] = "abcd"; __thread int zero;
int bump(void) { return ++counter; }
int main(void) { bump(); int *p = &counter; *p += 10; s.b += s.a; text[1] = 'z'; zero++; return bump() * 100 + (int)s.b * 10 + (text[1] == 'z') + (text[3] == 'd') + zero; }
