# 1 "list.c"
typedef unsigned int size_t;
extern void free (void *__ptr) __attribute__ ((__nothrow__ , __leaf__));
extern void *malloc (size_t __size) __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__malloc__)) __attribute__ ((__alloc_size__ (1))) ;
extern void *calloc (size_t __nmemb, size_t __size) __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__malloc__)) __attribute__ ((__alloc_size__ (1, 2))) __attribute__ ((__malloc__ (free, 1)));
__extension__ extern long long int atoll (const char *__nptr) __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__pure__)) __attribute__ ((__nonnull__ (1)));
# 3 "list.c"
struct node {
  struct node *next;
  int key;
};
int main (void) {
  struct node *a = calloc (1, sizeof (struct node));
  struct node *b = calloc (1, sizeof (struct node));
  if (!a || !b) {
    free (a);
    free (b);
    return 0;
  }
  a->next = b;
  free (a);
  b = a->next;
  free (b);
  return 0;
}
