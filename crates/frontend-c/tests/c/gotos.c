// expect: 45
int main(void) {
    int i = 0, s = 0;
again:
    s += i;
    if (++i < 10) goto again;
    if (s == 45) goto out;
    s = -1;
out:
    return s;
}
