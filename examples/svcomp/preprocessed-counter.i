# 1 "counter.c"
# 1 "<built-in>"
typedef unsigned long int size_t;
extern _Float128 strtof128 (const char *__restrict __nptr, char **__restrict __endptr) __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__nonnull__ (1)));
extern void free (void *__ptr) __attribute__ ((__nothrow__ , __leaf__));
extern void *malloc (size_t __size) __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__malloc__)) __attribute__ ((__alloc_size__ (1)));
extern void *reallocarray (void *__ptr, size_t __nmemb, size_t __size) __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__warn_unused_result__)) __attribute__ ((__malloc__ (free, 1)));
__extension__ typedef long long int quad;
typedef unsigned long int pthread_t;
typedef union {
  char __size[56];
  long int __align;
} pthread_attr_t;
typedef union {
  struct {
    int __lock;
    unsigned int __count;
    int __owner;
    unsigned int __nusers;
    int __kind;
    short __spins;
    short __elision;
    void *__prev, *__next;
  } __data;
  char __size[40];
  long int __align;
} pthread_mutex_t;
extern int pthread_create (pthread_t *__restrict __newthread, const pthread_attr_t *__restrict __attr, void *(*__start_routine) (void *), void *__restrict __arg) __attribute__ ((__nothrow__)) __attribute__ ((__nonnull__ (1, 3)));
extern int pthread_join (pthread_t __th, void **__thread_return);
extern int pthread_mutex_lock (pthread_mutex_t *__mutex) __attribute__ ((__nothrow__)) __attribute__ ((__nonnull__ (1)));
extern int pthread_mutex_unlock (pthread_mutex_t *__mutex) __attribute__ ((__nothrow__)) __attribute__ ((__nonnull__ (1)));
# 8 "counter.c"
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
pthread_mutex_t m = { { 0, 0, 0, 0, 0, 0, 0, 0, 0 } };
quad n;
void *add (void *arg) {
  pthread_mutex_lock (&m);
  n = n + 1;
  pthread_mutex_unlock (&m);
  return ((void *)0);
}
int main (void) {
  pthread_t a, b;
  pthread_create (&a, ((void *)0), add, ((void *)0));
  pthread_create (&b, ((void *)0), add, ((void *)0));
  pthread_join (a, ((void *)0));
  pthread_join (b, ((void *)0));
  __VERIFIER_assert (n == 2);
  return 0;
}
