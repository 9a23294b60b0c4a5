struct pair {
    int left, right;
};
struct node {
    char kind;
    struct pair pair;
    struct node *next;
};

struct node first = {1, {2, 3}, &first}, second;

static int sum(struct pair pair) {
    return pair.left + pair.right;
}

int main(void) {
    second = first;
    struct node *node = &second;
    *node->next = *node;
    return sum(node->pair) + sum(first.pair);
}
