//! -DNOTHING -fno-builtin => tso: safe
//! => tso: safe
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char from[64] = "the quick brown fox jumps over the lazy dog";

int main(int argc, char **argv) {
  char to[64], *copy;
  memset(to, 'x', sizeof to);
  memcpy(to, from, strlen(from) + 1);
  assert(strcmp(to, from) == 0 && to[63] == 'x');
  memmove(to + 4, to, 9);
  assert(strncmp(to, "the the quick", 13) == 0);
  assert(strchr(from, 'q') == from + 4);
  copy = malloc(64);
  strcpy(copy, from);
  assert(memcmp(copy, from, 20) == 0);
  free(copy);
  copy = calloc(4, 8);
  assert(copy[31] == 0);
  free(copy);
  assert(atoi("42") == 42);
  printf("%d %s\n", argc, argv[0]);
  fprintf(stderr, "nothing is wrong\n");
  assert(argc == 1 && argv[1] == 0);
  return 0;
}
