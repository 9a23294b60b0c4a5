// expect: 1371846038
int f(int x) {
    switch (x) { case 0: return 3; case 1: x += 10; case 2: return x; case 5 ... 8: return 50 - x; default: break; case -4: return 99; }
    return -1;
}
int main(void) { int s = 0; for (int i = -5; i < 12; i++) s = s * 3 + f(i); return s; }
