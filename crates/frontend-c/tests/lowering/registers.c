struct item {
    short kind;
    int place[2];
};

struct item items[3];

static struct item found(int index) {
    struct item item = items[index];
    item.place[1] = 5;
    return item;
}

int main(void) {
    struct item copy = items[1];
    items[2] = copy;
    struct item seen = found(2);
    struct item *escapes = &seen;
    items[0] = *escapes;
    return escapes == items;
}
