/* Litmus tests in C: each thread is a function, accesses are volatile, and what is observed in the
 * end goes into `out`, in the alphabetical order of the names that the test of the same name in
 * tests/corpus/x86 has for it (0:EAX, 0:EBX, 1:EAX, …, x, y). Arguments of the program are allowed
 * outcomes, one digit for each thing observed: any other one fails. */
#include <assert.h>
#include <pthread.h>

static volatile int x, y, z, out[4];

typedef void body(void);

/* Stores what is observed of memory when all threads have ended. */
static void observe(void);

#define mfence() __asm__ volatile("mfence" ::: "memory")
#define lfence() __asm__ volatile("lfence" ::: "memory")
#define lock_inc(place) __asm__ volatile("lock incl %0" : "+m"(place)::"cc", "memory")
#define inc(place) __asm__ volatile("incl %0" : "+m"(place)::"cc", "memory")

static inline int xchg(volatile int *place, int value) {
  __asm__ volatile("xchg %0, %1" : "+r"(value), "+m"(*place)::"memory");
  return value;
}

static void *run(void *thread) {
  ((body *)thread)();
  return 0;
}

static int is_outcome(const char *digits) {
  for (int i = 0; digits[i]; i++)
    if (out[i] != digits[i] - '0')
      return 0;
  return 1;
}

static int litmus(int count, char **arguments, body *const *threads, int thread_count) {
  pthread_t started[4];
  for (int i = 0; i < thread_count; i++)
    pthread_create(&started[i], 0, run, (void *)threads[i]);
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

/* The program that runs some functions, each as a thread. */
#define LITMUS(...)                                                                                \
  int main(int count, char **arguments) {                                                          \
    body *const threads[] = {__VA_ARGS__};                                                         \
    return litmus(count, arguments, threads, sizeof threads / sizeof *threads);                    \
  }
