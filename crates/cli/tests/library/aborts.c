// ask: 1 abort is called
// ask -p unreach.prp: 3|0
// ask -p race: 3|0
#include <stdlib.h>
int main(void) { abort(); }
