// expect: 2513124
double nan_; int main(void) {
    double n = nan_ / nan_, one = 1, two = 2; int r = 0;
    double v[3]; v[0] = one; v[1] = two; v[2] = n;
    for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) r = r * 5 + (v[i] < v[j]) + (v[i] <= v[j]) * 2 + (v[i] > v[j]) * 3 + (v[i] >= v[j]) + (v[i] == v[j]) + (v[i] != v[j]) * 2 + !(v[i] < v[j]) + __builtin_isunordered(v[i], v[j]) + __builtin_islessgreater(v[i], v[j]);
    return r;
}
