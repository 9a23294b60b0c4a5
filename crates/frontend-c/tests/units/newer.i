# 0 "newer.c"
# 1 "/usr/include/stdlib.h" 1 3 4
typedef unsigned int size_type;
extern void free (void *__ptr) __attribute__ ((__nothrow__ , __leaf__));
typedef struct _IO_FILE FILE;
extern int fclose (FILE *__stream) __attribute__ ((__nonnull__ (1)));
extern FILE *tmpfile (void)
  __attribute__ ((__malloc__)) __attribute__ ((__malloc__ (fclose, 1))) ;
extern void *block (size_type n) __attribute__ ((__malloc__ (__builtin_free,
   1))) __attribute__ ((__alloc_size__ (1)));
extern int take (int __fd, void *__buf) __attribute__ ((__fd_arg (1))) __attribute__ ((__access__ (__write_only__, 2)));
extern _Float128 strtof128 (const char *__restrict __nptr, char **__restrict __endptr) __attribute__ ((__nothrow__ , __leaf__));
extern _Float32 strtof32 (const char *__restrict __nptr, char **__restrict __endptr);
extern _Float64x strtof64x (const char *__restrict __nptr, char **__restrict __endptr);
extern int scan (const char *__restrict __format, ...) __asm__ ("" "__isoc99_scanf") __attribute__ ((__null_terminated_string_arg__ (1)));
_Static_assert (sizeof (int) == 4, "int");
_Noreturn _Noreturn void stop (void);
typedef __int128 wide; typedef unsigned __int128 wider;
typedef _Bool bool;
# 3 "newer.c" 2
static _Float64 half(_Float32 x) { return x / 2; }
old(a, b) int a; { return a + b; }
int main(void) {
  wider w = 1; w <<= 100; bool b = 7;
  return (int)half(9) + (int)(w >> 98) * 10 + b * 100 + old(500, 500);
}
