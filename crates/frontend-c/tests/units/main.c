// expect: 1327
extern int shared;
int helper(int);
static int local(void) { return 300; }
static int number = 20;
int common;
int twice(int);
__attribute__((weak)) int chosen(void) { return 0; }

int main(void) {
    shared += helper(1);
    common = 5;
    return shared + local() + number + twice(common) - 10 + chosen();
}
