// A constant index beyond a local array.
int main(void) {
  int a[3] = {1, 2, 3};
  a[3] = 5;
  return a[0];
}
