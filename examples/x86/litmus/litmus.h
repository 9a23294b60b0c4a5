/* Litmus tests in C: each thread is a function, accesses are volatile, and what is observed in the
 * end goes into `out`, in the alphabetical order of the names that the test of the same name in
 * tests/corpus/x86 has for it (0:EAX, 0:EBX, 1:EAX, …, x, y). Arguments of the program are allowed
 * outcomes, one digit for each thing observed: any other one fails. */
#include <assert.h>
#include <pthread.h>

static volatile int x, y, z, out[4];

typedef void body(void);

static body *const threads[];
static const int thread_count;
static void observe(void);

#define mfence() __asm__ volatile("mfence" ::: "memory")
#define lfence() __asm__ volatile("lfence" ::: "memory")
#define lock_inc(place) __asm__ volatile("lock incl %0" : "+m"(place)::"cc", "memory")
#define inc(place) __asm__ volatile("incl %0" : "+m"(place)::"cc", "memory")

static inline int xchg(volatile int *place, int value) {
  __asm__ volatile("xchg %0, %1" : "+r"(value), "+m"(*place)::"memory");
  return value;
}

/* The functions of the threads. */
#define THREADS(...)                                                                               \
  static body *const threads[] = {__VA_ARGS__};                                                    \
  static const int thread_count = sizeof threads / sizeof *threads;

static void *run(void *number) {
  threads[(long)number]();
  return 0;
}

static int is_outcome(const char *digits) {
  for (int i = 0; digits[i]; i++)
    if (out[i] != digits[i] - '0')
      return 0;
  return 1;
}

int main(int count, char **arguments) {
  pthread_t started[4];
  for (long i = 0; i < thread_count; i++)
    pthread_create(&started[i], 0, run, (void *)i);
  for (int i = 0; i < thread_count; i++)
    pthread_join(started[i], 0);
  observe();
  x = y = z = 0;
  int is_allowed = 0;
  for (int i = 1; i < count; i++)
    is_allowed |= is_outcome(arguments[i]);
  assert(is_allowed);
  return 0;
}
