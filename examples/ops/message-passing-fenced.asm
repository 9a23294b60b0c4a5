// Message passing with a barrier on both sides: right everywhere.
isa arm
loc [x] = 0, [y] = 0

thread P1:
    mov r1, #1
    str r1, [x]
    dmb
    str r1, [y]

thread P2:
L:  ldr r1, [y]
    cmp r1, #1
    bne L
    dmb
    ldr r2, [x]
    assert r2 = 1
