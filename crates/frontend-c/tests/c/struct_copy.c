// expect: 5076
struct S { char c; int x; long y; short z[3]; } a = {1, 2, 3, {4, 5, 6}}, b, arr[3];
int main(void) {
    b = a; a.x = 10; struct S t = a; t.z[1] = 50; arr[2] = t; struct S *p = &arr[1]; *p = b;
    return b.x + b.z[2] * 10 + arr[2].z[1] * 100 + arr[2].x + arr[1].c + (int)arr[1].y;
}
