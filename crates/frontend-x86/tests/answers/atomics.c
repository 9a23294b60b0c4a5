/* Atomic operations of all widths, as one thread sees them. */
#include "check.h"
#include <stdint.h>

#define ORDER __ATOMIC_SEQ_CST

#define ATOMICS(type)                                                                              \
    {                                                                                              \
        static type place;                                                                         \
        type *x = HIDE(&place), expected;                                                          \
        __atomic_store_n(x, 5, ORDER);                                                             \
        CHECK(__atomic_exchange_n(x, 9, ORDER) == 5);                                              \
        CHECK(__atomic_fetch_add(x, 3, ORDER) == 9 && __atomic_add_fetch(x, 1, ORDER) == 13);      \
        CHECK(__atomic_fetch_sub(x, 3, ORDER) == 13 && __atomic_sub_fetch(x, 20, ORDER) == (type)-10); \
        CHECK(__atomic_fetch_and(x, 0x3c, ORDER) == (type)-10 && *x == 0x34);                      \
        CHECK(__atomic_or_fetch(x, 3, ORDER) == 0x37 && __atomic_xor_fetch(x, 5, ORDER) == 0x32);  \
        CHECK(__atomic_nand_fetch(x, 0x12, ORDER) == (type)~0x12);                                 \
        expected = 7;                                                                              \
        CHECK(!__atomic_compare_exchange_n(x, &expected, 1, 0, ORDER, ORDER));                     \
        CHECK(expected == (type)~0x12);                                                            \
        CHECK(__atomic_compare_exchange_n(x, &expected, 1, 0, ORDER, ORDER) && *x == 1);           \
        __atomic_add_fetch(x, HIDE((type)2), ORDER);                                               \
        CHECK(__atomic_sub_fetch(x, 3, ORDER) == 0);                                               \
        __atomic_fetch_or(x, 1 << 3, ORDER);                                                       \
        CHECK((__atomic_fetch_and(x, ~(1 << 3), ORDER) & 1 << 3) && __atomic_load_n(x, ORDER) == 0); \
        CHECK(!(__atomic_fetch_or(x, (type)1 << HIDE(4), ORDER) & (type)1 << HIDE(4)));            \
        CHECK(__atomic_fetch_xor(x, (type)1 << HIDE(4), ORDER) & (type)1 << HIDE(4));              \
    }

int main(void) {
    static char flag;
    CHECK(!__atomic_test_and_set(&flag, ORDER) && __atomic_test_and_set(&flag, ORDER));
    __atomic_clear(&flag, ORDER);
    __atomic_thread_fence(ORDER);
    CHECK(!flag);
    ATOMICS(uint8_t)
    ATOMICS(int8_t)
    ATOMICS(uint16_t)
    ATOMICS(int16_t)
    ATOMICS(uint32_t)
    ATOMICS(int32_t)
    ATOMICS(uint64_t)
    ATOMICS(int64_t)
    return 0;
}
