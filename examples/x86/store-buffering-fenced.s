# Store buffering in assembler, with fences: each thread sets its own flag, waits until everybody can
# see that, and then looks at that of the other. One of them finds something.

        .intel_syntax noprefix
        .data
x:      .long 0
        .type x, @object
        .size x, 4
y:      .long 0
        .type y, @object
        .size y, 4
r0:     .long 0
        .type r0, @object
        .size r0, 4
r1:     .long 0
        .type r1, @object
        .size r1, 4
        .text

        .type left, @function
left:   mov dword ptr x[rip], 1
        mfence
        mov eax, y[rip]
        mov r0[rip], eax
        xor eax, eax
        ret
        .size left, .-left

        .type right, @function
right:  mov dword ptr y[rip], 1
        mfence
        mov eax, x[rip]
        mov r1[rip], eax
        xor eax, eax
        ret
        .size right, .-right

        .globl main
        .type main, @function
main:   sub rsp, 24
        lea rdi, [rsp]
        xor esi, esi
        lea rdx, left[rip]
        xor ecx, ecx
        call pthread_create@plt
        lea rdi, [rsp + 8]
        xor esi, esi
        lea rdx, right[rip]
        xor ecx, ecx
        call pthread_create@plt
        mov rdi, [rsp]
        xor esi, esi
        call pthread_join@plt
        mov rdi, [rsp + 8]
        xor esi, esi
        call pthread_join@plt
        mov eax, r0[rip]
        or eax, r1[rip]
        je wrong
        xor eax, eax
        add rsp, 24
        ret
wrong:  lea rdi, message[rip]
        call __assert_fail@plt
        .size main, .-main

        .section .rodata
message: .asciz "r0 || r1"
        .section .note.GNU-stack, "", @progbits
