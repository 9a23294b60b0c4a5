/* A wrong answer. */
#include "check.h"

int main(void) {
    CHECK(HIDE(1) + 1 == 3);
    return 0;
}
