// The same without barriers: accesses leave the critical section, under PSO at its end, on ARM
// also at its start.
isa arm
loc [lock] = 0, [flag] = 0

thread P1:
L:  mov r2, #1
    ldrex r1, [lock]
    cmp r1, #0
    wfene
    strexeq r1, r2, [lock]
    cmpeq r1, #0
    bne L
    ldr r3, [flag]
    assert r3 = 0
    str r2, [flag]
    mov r4, #0
    str r4, [flag]
    str r4, [lock]

thread P2:
L:  mov r2, #1
    ldrex r1, [lock]
    cmp r1, #0
    wfene
    strexeq r1, r2, [lock]
    cmpeq r1, #0
    bne L
    ldr r3, [flag]
    assert r3 = 0
    str r2, [flag]
    mov r4, #0
    str r4, [flag]
    str r4, [lock]
