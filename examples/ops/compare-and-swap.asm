// Two processors count with compare-and-swap, and try again where another was faster.
isa x86
loc [count] = 0

thread P1:
L:  mov eax, [count]
    mov ebx, eax
    add ebx, 1
    lock cmpxchg [count], ebx
    jne L
    mov ecx, [count]
    assert ecx = 1 \/ ecx = 2

thread P2:
L:  mov eax, [count]
    mov ebx, eax
    add ebx, 1
    lock cmpxchg [count], ebx
    jne L
    mov ecx, [count]
    assert ecx = 1 \/ ecx = 2
