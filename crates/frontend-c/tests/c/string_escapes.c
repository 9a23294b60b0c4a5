// expect: 2880822
const unsigned char s[] = "\0\1\x7f\xff\"\\%";
int main(void) { int h = 0; for (unsigned i = 0; i < sizeof s; i++) h = h * 7 + s[i]; return h; }
