// expect: 43217
#include <stdlib.h>
struct node { int v; struct node *next; };
int main(void) {
    struct node *head = 0; for (int i = 0; i < 5; i++) { struct node *n = malloc(sizeof *n); n->v = i; n->next = head; head = n; }
    int s = 0; while (head) { struct node *n = head; s = s * 10 + n->v; head = n->next; free(n); }
    int *a = calloc(4, sizeof *a); a[3] = 7; a = realloc(a, 8 * sizeof *a); s += a[3] + a[0]; free(a); return s;
}
