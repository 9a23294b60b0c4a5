// expect: 1000047
double d = 0.1; float f = 0.1f; double table[] = {1.5, -2.25, 1e300, 3};
int main(void) {
    double s = 0; for (int i = 0; i < 10; i++) s += d; float g = f * 3 - 0.25f; g = -g;
    return (int)(s * 1e6) + (s == 1.0) * 2 + (s < 1.0) * 4 + (int)(g * 1000) + (int)(table[1] * table[3]) + (int)(table[2] / 1e298) + (f == d);
}
