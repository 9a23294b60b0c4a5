// expect: unknown: the inline assembly 'cpuid'
int main(void) { unsigned a = 0, b, c, d; __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d)); return (int)a; }
