// A program that declares the functions itself, and takes an int for a thread; two steps cannot be distinguished.
typedef int pthread_t;
extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
extern int pthread_join(pthread_t, void **);
extern void abort(void);
void reach_error(void) {}
void __VERIFIER_assert(int cond) {
  if (!cond) {
    reach_error();
    abort();
  }
}
struct {
  pthread_t id;
  int after;
} s = {0, 7};
_Atomic int n;

void *work(void *arg) {
  n = n + 1;
  return 0;
}

int main(void) {
  pthread_t other;
  pthread_create(&s.id, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  pthread_join(s.id, 0);
  pthread_join(other, 0);
  __VERIFIER_assert(s.after == 7 && n >= 2);
  return 0;
}
