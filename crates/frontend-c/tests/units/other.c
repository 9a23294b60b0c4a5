int shared = 2;
static int local(void) { return 3; }
static int number = 1;
int helper(int x) { return x + local() + number; }
int real_twice(int x) { return 2 * x; }
int twice(int) __attribute__((alias("real_twice")));
int chosen(void) { return 1000; }
