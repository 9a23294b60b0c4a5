// expect: 0
#include <stdlib.h>
#include <string.h>
struct __attribute__((packed)) odd { char c; int n; long l; } o = {1, 2, 3};
struct node { struct node *next; int n[3]; } a = {0, {1, 2, 3}}, b = {&a, {4, 5, 6}};
int sum(struct node *p) { int s = 0; for (; p; p = p->next) for (int i = 0; i < 3; i++) s += p->n[i]; return s; }
int main(void) {
    int copy;
    char bytes[8] = {0, 1, 0, 0, 0};
    struct odd *q = &o;
    memcpy(&copy, bytes + 1, 4);
    double *d = malloc(2 * sizeof *d);
    d[1] = 2;
    int r = sum(&b) != 21 || copy != 1 || q->n + q->l != 5 || d[1] != 2;
    free(d);
    return r;
}
