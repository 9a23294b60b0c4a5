// The spinlock of TOPPERS/FMP for ARM: both processors take the lock; who is inside finds the
// flag as it was, for the other never comes in.
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
