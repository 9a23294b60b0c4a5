# 1 "threads.c"
typedef unsigned long int pthread_t;
typedef union pthread_attr_t { char __size[36]; long int __align; } pthread_attr_t;
extern int pthread_create (pthread_t *__restrict __newthread, const pthread_attr_t *__restrict __attr, void *(*__start_routine) (void *), void *__restrict __arg) __attribute__ ((__nothrow__)) __attribute__ ((__nonnull__ (1, 3)));
extern int pthread_join (pthread_t __th, void **__thread_return);
extern void __assert_fail (const char *__assertion, const char *__file, unsigned int __line, const char *__function) __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__noreturn__));
void reach_error (void) { ((0) ? (void) (0) : __assert_fail ("0", "threads.c", 3, __extension__ __PRETTY_FUNCTION__)); }
int x;
void *set (void *arg) {
  x = 2;
  return 0;
}
int main (void) {
  pthread_t t;
  pthread_create (&t, 0, set, 0);
  pthread_join (t, 0);
  if (x != 1) {
    ERROR: reach_error ();
  }
  return 0;
}
