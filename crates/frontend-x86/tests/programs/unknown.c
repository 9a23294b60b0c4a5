//! => tso: safe
//! -DREACHED => tso: unknown gethostid
//! -DINSTRUCTION => tso: unknown cpuid
//! -DLABEL => tso: unknown
#include <unistd.h>

volatile int zero;

int main(void) {
#ifdef REACHED
  return (int)gethostid();
#endif
#ifdef INSTRUCTION
  __asm__ volatile("cpuid" ::: "eax", "ebx", "ecx", "edx");
#endif
#ifdef LABEL
  __asm__ volatile("lea 1f(%%rip), %%rax; add $1, %%rax; jmp *%%rax; 1: nop; nop" ::: "rax");
#endif
  if (zero) {
    __asm__ volatile("cpuid" ::: "eax", "ebx", "ecx", "edx");
    return (int)gethostid();
  }
  return 0;
}
