// expect: 60083
int m[3][4]; const int c[] = {5, 4, 3, 2, 1};
int main(void) {
    for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) m[i][j] = i * 4 + j;
    int *p = &m[0][0], s = 0, (*row)[4] = m + 1;
    for (int i = 0; i < 12; i += 5) s = s * 10 + p[i];
    return s * 1000 + (*row)[2] * 10 + row[1][3] + c[m[0][2]] + (int)(&m[2][1] - &m[0][0]);
}
