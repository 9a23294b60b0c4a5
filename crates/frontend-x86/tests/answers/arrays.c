/* Loops that compilers turn into vector instructions. */
#include "check.h"
#include <stdint.h>
#include <stddef.h>

#define COUNT 61

#define LOOPS(type, name)                                                                          \
    static type a_##name[COUNT], b_##name[COUNT];                                                  \
    __attribute__((noinline)) static void fill_##name(size_t count) {                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            a_##name[i] = (type)(i * 5 + 1);                                                       \
            b_##name[i] = (type)(count - i);                                                       \
        }                                                                                          \
    }                                                                                              \
    __attribute__((noinline)) static void mix_##name(size_t count) {                               \
        for (size_t i = 0; i < count; i++)                                                         \
            a_##name[i] = a_##name[i] > b_##name[i] ? a_##name[i] - b_##name[i]                    \
                                                    : a_##name[i] * b_##name[i];                   \
    }                                                                                              \
    __attribute__((noinline)) static type total_##name(size_t count) {                             \
        type total = 0;                                                                            \
        for (size_t i = 0; i < count; i++)                                                         \
            total += a_##name[i];                                                                  \
        return total;                                                                              \
    }                                                                                              \
    __attribute__((noinline)) static type most_##name(size_t count) {                              \
        type most = a_##name[0];                                                                   \
        for (size_t i = 1; i < count; i++)                                                         \
            most = a_##name[i] > most ? a_##name[i] : most;                                        \
        return most;                                                                               \
    }                                                                                              \
    __attribute__((noinline)) static int equal_##name(size_t count, type value) {                  \
        int found = 0;                                                                             \
        for (size_t i = 0; i < count; i++)                                                         \
            found += a_##name[i] == value;                                                         \
        return found;                                                                              \
    }                                                                                              \
    static void check_##name(type total, type most, int times) {                                   \
        fill_##name(HIDE((size_t)COUNT));                                                          \
        mix_##name(HIDE((size_t)COUNT));                                                           \
        CHECK(total_##name(HIDE((size_t)COUNT)) == total);                                         \
        CHECK(most_##name(HIDE((size_t)COUNT)) == most);                                           \
        CHECK(equal_##name(HIDE((size_t)COUNT), HIDE(most)) == times);                             \
    }

LOOPS(int8_t, i8)
LOOPS(uint8_t, u8)
LOOPS(int16_t, i16)
LOOPS(uint16_t, u16)
LOOPS(int32_t, i32)
LOOPS(uint32_t, u32)
LOOPS(int64_t, i64)
LOOPS(uint64_t, u64)
LOOPS(float, f)
LOOPS(double, d)

int main(void) {
    check_i8(-68, 125, 2);
    check_u8(135, 240, 1);
    check_i16(23116, 2601, 1);
    check_u16(23116, 2601, 1);
    check_i32(23116, 2601, 1);
    check_u32(23116, 2601, 1);
    check_i64(23116, 2601, 1);
    check_u64(23116, 2601, 1);
    check_f(23116, 2601, 1);
    check_d(23116, 2601, 1);
    return 0;
}
