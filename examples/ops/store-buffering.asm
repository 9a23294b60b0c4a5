// Store buffering: where P1 does not see the store of P2, P2 sees the one of P1. Only SC makes it
// so.
isa x86
loc [X] = 0, [Y] = 0

thread P1:
    mov [X], 1
    mov eax, [Y]
    assume eax = 0

thread P2:
    mov [Y], 1
    mov eax, [X]
    assert eax = 1
