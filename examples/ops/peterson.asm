// Peterson's algorithm, its way in. Right under SC only: a store of one's own flag must be seen
// before the other's is read.
isa arm
loc [flag1] = 0, [flag2] = 0, [turn] = 0, [inside] = 0

thread P1:
        mov r0, #1
        str r0, [flag1]
        mov r4, #2
        str r4, [turn]
again:  ldr r1, [flag2]
        ldr r2, [turn]
        cmp r1, #1
        cmpeq r2, #2
        beq again
        ldr r3, [inside]
        assert r3 = 0
        str r0, [inside]

thread P2:
        mov r0, #1
        str r0, [flag2]
        mov r4, #1
        str r4, [turn]
again:  ldr r1, [flag1]
        ldr r2, [turn]
        cmp r1, #1
        cmpeq r2, #1
        beq again
        ldr r3, [inside]
        assert r3 = 0
        str r0, [inside]
