// expect: assert: reach_error is called
int reached;
void reach_error(void) { reached = 1; }
int main(void) { reach_error(); return 0; }
