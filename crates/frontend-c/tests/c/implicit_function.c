// expect: 34
main() { return later(3, 4); }
int later(int a, int b) { return a * 10 + b; }
