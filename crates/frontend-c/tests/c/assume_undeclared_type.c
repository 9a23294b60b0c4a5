// expect: 0
extern void __VERIFIER_assume();
extern void __VERIFIER_assert();
int main(void) {
    __VERIFIER_assume(1L << 32);
    __VERIFIER_assert(&main);
    return 0;
}
// data model: LP64
