// expect: 0
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
int main(void) {
    char *end, text[] = "99999999999999999999!";
    if (strtol(text, &end, 10) != LONG_MAX || errno != ERANGE || *end != '!') return 1;
    if (strtol("-9223372036854775809", 0, 10) != LONG_MIN) return 2;
    if (strtoul("18446744073709551615", 0, 10) != ULONG_MAX) return 3;
    errno = 0;
    if (strtol("9223372036854775807", 0, 10) != LONG_MAX || errno) return 4;
    if (strtol("7", 0, 1) != 0 || errno != EINVAL) return 5;
    return atoi("-12") != -12;
}
// data model: LP64
