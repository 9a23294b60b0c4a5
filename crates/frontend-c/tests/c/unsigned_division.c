// expect: 32212056
int main(void) {
    unsigned a = 4000000000u; unsigned long b = 12345678901234567890ul; unsigned short c = 65535;
    return (int)(a / 7 + a % 7 + b / 1000000007ul + b % 97 + c / 10);
}
// data model: LP64
