// Two processors count on from any number. With words, the largest one is followed by 0; with
// integers, each counts to more than was there.
isa x86
loc [x] = any

thread P1:
    mov eax, 1
    lock xadd [x], eax
    mov ebx, eax
    add ebx, 1
    assert ebx > eax

thread P2:
    lock inc [x]
