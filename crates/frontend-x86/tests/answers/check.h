/* Traps where something is not as it must be. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            __builtin_trap();                                                                      \
    } while (0)

/* Hides a value from the compiler, so that it has to compute. */
#define HIDE(value)                                                                                \
    ({                                                                                             \
        __typeof__(value) hidden = (value);                                                        \
        __asm__ volatile("" : "+g"(hidden));                                                       \
        hidden;                                                                                    \
    })
