// expect: 1
int main(void) {
#if defined __PARALLAX__ && !defined __OPTIMIZE__
    return 1;
#else
    return 0;
#endif
}
