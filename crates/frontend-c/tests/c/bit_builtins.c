// expect: 161555578
int main(void) {
    unsigned x = 0x00f0a001; unsigned long y = 0x8000000000000010ul; int s = -9;
    return __builtin_popcount(x) + __builtin_clz(x) * 3 + __builtin_ctz(x) * 5 + __builtin_popcountl(y) * 7
         + __builtin_clzl(y) + __builtin_ctzl(y) * 11 + (int)__builtin_bswap32(x) + (int)(__builtin_bswap64(y) >> 33)
         + __builtin_bswap16(0x1234) + __builtin_abs(s) + __builtin_parity(x) + __builtin_ffs(16);
}
// data model: LP64
