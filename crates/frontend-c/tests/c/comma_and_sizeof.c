// expect: 6183
int main(void) { int i = 0; int j = (i++, i + 5); char c[7]; return (int)sizeof c + (int)sizeof(struct { char a; double b; }) * 10 + j * 1000 + (int)_Alignof(long double); }
// data model: LP64
