// expect: 4
int mystery(int);
int x = 1;
int main(void) { return x ? 4 : mystery(3); }
