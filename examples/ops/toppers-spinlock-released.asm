// The same lock, taken and given back, with the barriers that ARM needs. Who is inside raises the
// flag and lowers it again; nobody finds it raised.
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
    dmb
    ldr r3, [flag]
    assert r3 = 0
    str r2, [flag]
    mov r4, #0
    str r4, [flag]
    dmb
    str r4, [lock]

thread P2:
L:  mov r2, #1
    ldrex r1, [lock]
    cmp r1, #0
    wfene
    strexeq r1, r2, [lock]
    cmpeq r1, #0
    bne L
    dmb
    ldr r3, [flag]
    assert r3 = 0
    str r2, [flag]
    mov r4, #0
    str r4, [flag]
    dmb
    str r4, [lock]
