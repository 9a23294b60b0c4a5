// expect: External("mystery")
int mystery(int);
int main(void) { return mystery(3); }
