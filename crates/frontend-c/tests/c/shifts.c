// expect: 1358954172
int main(void) {
    unsigned u = 0xf0000001u; int s = -17; long l = -1L; unsigned char c = 0x81;
    int r = (u >> 4) ^ (s >> 2) ^ (int)(u << 3) ^ (int)((unsigned long)l >> 60) ^ (c << 1);
    for (int i = 0; i < 31; i++) r += (s >> i) + (int)(u >> i);
    return r;
}
// data model: LP64
