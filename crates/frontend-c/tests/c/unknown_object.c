// expect: unknown: the object 'mystery', which is defined nowhere
extern int mystery;
int main(void) { return mystery; }
