// expect: unknown: signed integer overflow in a division
int least = -2147483647 - 1, minus = -1;
int main(void) { return least / minus; }
