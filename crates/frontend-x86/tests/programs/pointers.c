//! => tso: safe
//! -fno-pie -no-pie => tso: safe
//! -DWILD => tso: unsafe no function
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }

struct operation {
  const char *name;
  int (*apply)(int, int);
};

struct operation operations[] = {{"add", add}, {"sub", sub}, {"mul", mul}};

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

void *(*volatile allocate)(size_t) = malloc;
void (*volatile give_back)(void *) = free;
size_t (*volatile measure)(const char *) = strlen;

int main(void) {
  volatile int three = 3;
  for (int i = 0; i < three; i++) {
    int found = operations[i].apply(6, 2);
    assert(found == (i == 0 ? 8 : i == 1 ? 4 : 12));
  }
  int numbers[5] = {4, 1, 5, 2, 3};
  qsort(numbers, 5, sizeof *numbers, compare);
  for (int i = 0; i < 5; i++)
    assert(numbers[i] == i + 1);
  char *text = allocate(8);
  strcpy(text, "seven..");
  assert(measure(text) == 7);
  give_back(text);
#ifdef WILD
  int (*volatile wild)(int, int) = (int (*)(int, int))0x10;
  wild(1, 2);
#endif
  return 0;
}
