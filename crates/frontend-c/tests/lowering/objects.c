#include <stddef.h>

void *malloc(size_t);
void free(void *);

struct node {
    int value;
    struct node *next;
};

_Thread_local int mine = 7;

static int of(struct node *node, const int *numbers) {
    return node->value + numbers[1] + mine;
}

int main(void) {
    int numbers[3] = {1, 2, 3};
    struct node *node = malloc(sizeof *node);
    node->value = 5;
    int result = of(node, numbers);
    free(node);
    return result;
}
