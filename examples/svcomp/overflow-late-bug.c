// A sum that overflows after many rounds.
int main(void) {
  int sum = 0;
  for (int i = 0; i < 70000; i++)
    sum += i;
  return sum > 0;
}
