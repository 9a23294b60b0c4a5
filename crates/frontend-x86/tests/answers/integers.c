/* Integer arithmetic of all widths, signed and unsigned, wide and narrow. */
#include "check.h"
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

typedef unsigned __int128 u128;

static int sum(int count, ...) {
    va_list list;
    va_start(list, count);
    int total = 0;
    double extra = 0;
    for (int i = 0; i < count; i++) {
        total += va_arg(list, int);
        extra += va_arg(list, double);
    }
    va_end(list);
    return total + (int)extra;
}

static uint64_t gcd(uint64_t a, uint64_t b) { return b ? gcd(b, a % b) : a; }

static uint64_t power(uint64_t base, uint64_t exponent, uint64_t modulus) {
    uint64_t result = 1;
    for (; exponent; exponent >>= 1, base = (u128)base * base % modulus)
        if (exponent & 1)
            result = (u128)result * base % modulus;
    return result;
}

static int described(unsigned what) {
    switch (what) {
    case 0: return 17;
    case 1: return -4;
    case 2: return 99;
    case 3: return 3;
    case 4: return 1000;
    case 5: return 42;
    case 900: return 8;
    default: return -1;
    }
}

static void sort(int *from, int *to) {
    if (to - from < 2)
        return;
    int pivot = *from, *low = from;
    for (int *here = from + 1; here < to; here++)
        if (*here < pivot) {
            int it = *here;
            *here = *++low;
            *low = it;
        }
    *from = *low;
    *low = pivot;
    sort(from, low);
    sort(low + 1, to);
}

static void divisions(void) {
    CHECK(HIDE(-7) / HIDE(2) == -3 && HIDE(-7) % HIDE(2) == -1);
    CHECK(HIDE(-7) / 10 == 0 && HIDE(1000000007) / 7 == 142857143);
    CHECK(HIDE((int8_t)-128) / HIDE((int8_t)3) == -42);
    CHECK(HIDE((uint16_t)65535) / HIDE((uint16_t)256) == 255);
    CHECK(HIDE(0xfedcba9876543210u) / HIDE(0x12345u) == 0xe0004fa01c4d);
    CHECK(HIDE(0xfedcba9876543210u) % 1000003 == 713574);
    CHECK((int64_t)HIDE(0x8000000000000000u) / 3 == -3074457345618258602);
    CHECK((uint64_t)(HIDE((u128)1 << 100) / HIDE((u128)12345678901)) == 0x90f792b72506e321);
}

static void bits(void) {
    CHECK(__builtin_popcountll(HIDE(0xf0f0f0f00ff0)) == 24);
    CHECK(__builtin_clz(HIDE(0x00012345)) == 15 && __builtin_ctzll(HIDE(0x500000000000)) == 44);
    CHECK(__builtin_bswap32(HIDE(0x12345678)) == 0x78563412);
    CHECK(__builtin_bswap64(HIDE(0x123456789abcdef0)) == 0xf0debc9a78563412);
    CHECK(__builtin_parity(HIDE(0x10101)) == 1);
    uint32_t x = HIDE(0x80000001);
    CHECK((x << 4 | x >> 28) == 0x18 && (int)x >> HIDE(31) == -1 && x >> HIDE(31) == 1);
    u128 wide = HIDE((u128)0x123456789abcdef0 << 64 | 0xfedcba9876543210);
    CHECK((uint64_t)(wide >> HIDE(36)) == 0x89abcdef0fedcba9);
    CHECK((uint64_t)(wide << HIDE(7) >> 64) == 0x1a2b3c4d5e6f787f);
    int carry = __builtin_add_overflow(HIDE(0xffffffffu), HIDE(1u), &x);
    CHECK(carry && x == 0);
    int product;
    CHECK(__builtin_mul_overflow(HIDE(65536), HIDE(32768), &product) && product == -2147483648);
}

int main(void) {
    divisions();
    bits();
    CHECK(gcd(HIDE(1071ul * 1000003), HIDE(462ul * 1000003)) == 21 * 1000003);
    CHECK(power(HIDE(3ul), HIDE(1000000005ul), HIDE(1000000007ul)) == 333333336);
    CHECK(sum(HIDE(4), 1, 0.5, 2, 1.5, 3, 2.5, -10, 4.0) == 4);
    CHECK(described(HIDE(3)) == 3 && described(HIDE(0)) == 17 && described(HIDE(900)) == 8);
    CHECK(described(HIDE(6)) == -1 && described(HIDE(5)) == 42);
    int numbers[40];
    for (int i = 0; i < 40; i++)
        numbers[i] = i * 7919 % 1009 - 500;
    sort(numbers, numbers + HIDE(40));
    for (int i = 1; i < 40; i++)
        CHECK(numbers[i - 1] < numbers[i]);
    char text[100], copy[100];
    memset(text, HIDE('x'), sizeof text);
    memcpy(copy, text, sizeof copy);
    copy[77] = 0;
    CHECK(copy[76] == 'x' && text[99] == 'x' && __builtin_strlen(copy) == 77);
    return 0;
}
