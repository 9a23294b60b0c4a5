/* Floating point of both precisions, and conversions. */
#include "check.h"
#include <stdint.h>
#include <string.h>

static uint64_t pattern(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint32_t single(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double root(double x) {
    double guess = x;
    for (int i = 0; i < 60; i++)
        guess = (guess + x / guess) / 2;
    return guess;
}

int main(void) {
    double tenth = HIDE(0.1), third = 1 / HIDE(3.0);
    CHECK(pattern(tenth + HIDE(0.2)) == 0x3fd3333333333334);
    CHECK(pattern(third) == 0x3fd5555555555555 && single((float)third) == 0x3eaaaaab);
    CHECK(single(HIDE(0.1f) * HIDE(3.0f)) == 0x3e99999a);
    CHECK(pattern(root(HIDE(2.0))) >> 1 == 0x3ff6a09e667f3bcd >> 1);
    CHECK((int)HIDE(-2.9) == -2 && (unsigned)HIDE(3000000000.7) == 3000000000u);
    CHECK((uint64_t)HIDE(1.2e19) == 12000000000000000000u && (int64_t)HIDE(-9e18) == -9000000000000000000);
    CHECK(pattern((double)HIDE(0xffffffffffffffffu)) == 0x43f0000000000000);
    CHECK(single((float)HIDE(16777217)) == 0x4b800000 && (float)HIDE((uint8_t)200) == 200.0f);
    double none = HIDE(0.0) / HIDE(0.0), great = 1 / HIDE(0.0);
    CHECK(none != none && !(none < great) && !(none >= great) && great > 1e308);
    CHECK(__builtin_isnan(none) && __builtin_signbit(HIDE(-0.0)) && HIDE(-0.0) == 0);
    double sum = 0;
    float values[37], total = 0;
    for (int i = 0; i < 37; i++)
        values[i] = (float)i * 0.5f - 3;
    for (int i = 0; i < HIDE(37); i++) {
        sum += values[i] * tenth;
        total += values[i] < 0 ? -values[i] : values[i];
    }
    CHECK(sum > 22.2 - 1e-9 && sum < 22.2 + 1e-9 && total == 243);
    return 0;
}
