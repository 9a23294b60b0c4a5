// A constant index within a local array.
int main(void) {
  int a[3] = {1, 2, 3};
  a[2] = 5;
  return a[0];
}
