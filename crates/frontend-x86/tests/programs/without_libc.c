//! -nostdlib -static -fno-stack-protector -fno-builtin => tso: safe
//! -nostdlib -static -fno-stack-protector -fno-builtin -DWRONG => tso: unsafe ud2
//! -nostdlib -fno-stack-protector -fno-builtin => tso: safe
static long call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return result;
}

__attribute__((used)) static void begin(long *stack) {
  const char *name = (const char *)stack[1];
  if (stack[0] != 1 || !name[0] || stack[2] || stack[3])
    __builtin_trap();
  char *memory = (char *)call(12, 0, 0, 0);
  if (call(12, (long)memory + 4096, 0, 0) != (long)memory + 4096)
    __builtin_trap();
  memory[4095] = 1;
  if (call(1, 1, (long)"hello\n", 6) != 6)
    __builtin_trap();
#ifdef WRONG
  __builtin_trap();
#endif
  call(231, 0, 0, 0);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\nhlt\n");
