int counter;

int main(void) {
    counter++;
    int unused = counter;
    return 0;
}
