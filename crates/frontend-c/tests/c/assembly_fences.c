// expect: 5
int x;
int main(void) {
    x = 1; __asm__ volatile("mfence" ::: "memory"); __asm__ volatile("lock; addl $0,0(%%rsp)" ::: "memory", "cc"); __asm__ volatile("" ::: "memory");
    __asm__ volatile("pause"); int y = x; __asm__("" : "+r"(y)); __asm__ volatile("rep; nop"); return y + 4;
}
