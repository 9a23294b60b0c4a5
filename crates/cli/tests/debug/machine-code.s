# Store buffering: each thread writes one variable and reads the other.
        .intel_syntax noprefix
        .text
        .globl  left
        .type   left, @function
left:
        mov     dword ptr x[rip], 1
        mov     eax, dword ptr y[rip]
        mov     dword ptr r0[rip], eax
        xor     eax, eax
        ret
        .size   left, .-left

        .globl  main
        .type   main, @function
main:
        sub     rsp, 24
        lea     rdi, [rsp+8]
        xor     esi, esi
        lea     rdx, left[rip]
        xor     ecx, ecx
        call    pthread_create@PLT
        mov     dword ptr y[rip], 1
        mov     ebx, dword ptr x[rip]
        mov     rdi, [rsp+8]
        xor     esi, esi
        call    pthread_join@PLT
        or      ebx, dword ptr r0[rip]
        jne     .Lfine
        call    abort@PLT
.Lfine:
        xor     eax, eax
        add     rsp, 24
        ret
        .size   main, .-main

        .bss
        .align  4
        .globl  x, y, r0
        .type   x, @object
        .size   x, 4
x:      .zero   4
        .type   y, @object
        .size   y, 4
y:      .zero   4
        .type   r0, @object
        .size   r0, 4
r0:     .zero   4
        .section .note.GNU-stack,"",@progbits
