// expect: 8408344
#include <string.h>
const char *words[] = {"alpha", "beta", "gam" "ma"}; char buffer[16] = "ab\\\n\"";
int main(void) {
    int s = 0;
    for (int i = 0; i < 3; i++) for (const char *p = words[i]; *p; p++) s = s * 31 + *p;
    strcpy(buffer + 5, words[1]);
    return s + (int)strlen(buffer) + buffer[2] + buffer[4] + strcmp(words[0], words[1]) + "xyz"[1];
}
