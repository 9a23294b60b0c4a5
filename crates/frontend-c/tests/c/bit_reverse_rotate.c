// expect: 830944348
int main(void) {
    unsigned x = 0x12345678; unsigned char c = 0x12; unsigned long y = 0x123456789abcdef0ul;
    return (int)(__builtin_bitreverse32(x) ^ __builtin_rotateleft32(x, 7) ^ __builtin_rotateright8(c, 3)
         ^ (unsigned)__builtin_rotateleft64(y, 20) ^ (unsigned)(__builtin_bitreverse64(y) >> 5) ^ __builtin_rotateleft32(x, 0));
}
// data model: LP64
