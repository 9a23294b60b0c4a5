// expect: 850
struct B { unsigned a : 3; int b : 5; unsigned long c : 40; unsigned : 0; unsigned char d : 1; } g;
int main(void) {
    struct B l = {5, -3, 1ul << 39, 1};
    g.a = 9; g.b = 15; g.b += 2; g.c = 0xfffffffffful; g.c++; g.d = 3;
    return g.a + g.b * 10 + (int)g.c + g.d * 1000 + l.a * 7 + l.b * 13 + (int)(l.c >> 38) + l.d;
}
// data model: LP64
