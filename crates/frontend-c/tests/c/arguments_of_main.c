// expect: 171
int main(int argc, char **argv) { int n = 0; while (argv[0][n]) n++; return argc * 100 + n * 10 + (argv[1] == 0); }
