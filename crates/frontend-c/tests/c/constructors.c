// expect: 123
int order; 
__attribute__((constructor(200))) static void second(void) { order = order * 10 + 2; }
__attribute__((constructor(101))) static void first(void) { order = order * 10 + 1; }
__attribute__((constructor)) static void last(void) { order = order * 10 + 3; }
int main(void) { return order; }
