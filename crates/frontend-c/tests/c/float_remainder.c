// expect: 20
double x = 17.5, y = 5; 
int main(void) { return (int)(__builtin_fabs(-x) * 2) + (int)(__builtin_copysign(y, -1) * 3); }
