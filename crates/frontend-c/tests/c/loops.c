// expect: 79049
int main(void) {
    int n = 0, i = 0;
    do { if (i % 3 == 0) continue; n += i; if (n > 40) break; } while (++i, i < 100);
    while (n-- > 10) i++;
    for (int a = 0, b = 10; a < b; a++, b--) n += a * b;
    return n * 1000 + i;
}
