// An unsigned number is shifted to the left by at most 31.
extern unsigned char __VERIFIER_nondet_uchar(void);

int main(void) {
  unsigned char by = __VERIFIER_nondet_uchar();
  if (by > 31)
    return 0;
  return (1u << by) == 4;
}
