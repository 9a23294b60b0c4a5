// expect: unknown: the object 'main.t': the constant 'blockaddress'
int main(void) { static void *const t[] = {&&a, &&b}; goto *t[1]; a: return 1; b: return 2; }
