// A sum that overflows after many rounds, which are not taken.
int main(void) {
  int sum = 0;
  for (int i = 0; i < 60000; i++)
    sum += i;
  return sum > 0;
}
