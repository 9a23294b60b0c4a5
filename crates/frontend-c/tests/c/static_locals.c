// expect: 1132
int next(void) { static int n = 10; return n++; } int other(void) { static int n; return ++n; }
int main(void) { next(); other(); return next() * 100 + other() * 10 + next(); }
