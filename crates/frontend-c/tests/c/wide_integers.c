// expect: 6029
unsigned __int128 g = ((unsigned __int128)1 << 100) + 12345;
__int128 n = -1;
int main(void) {
    unsigned __int128 a = g * 3 + 7; a /= 10; __int128 s = n * 5; a ^= (a >> 64);
    return (int)a + (int)(a >> 96) + (int)(s % 3) + (g > a) + (int)(g >> 100);
}
