volatile int flag;

int main(void) {
    int rounds = 0;
    for (int i = 0, j = 9; i < j; i++, j--) {
        if (flag == i)
            continue;
        rounds += j;
    }
    return rounds;
}
