// Dekker's algorithm, its way in. Right under SC only.
isa arm
loc [flag1] = 0, [flag2] = 0, [turn] = 1, [inside] = 0

thread P1:
        mov r0, #1
        mov r4, #0
        str r0, [flag1]
check:  ldr r1, [flag2]
        cmp r1, #0
        beq enter
        ldr r2, [turn]
        cmp r2, #2
        bne check
        str r4, [flag1]
wait:   ldr r2, [turn]
        cmp r2, #2
        beq wait
        str r0, [flag1]
        b check
enter:  ldr r3, [inside]
        assert r3 = 0
        str r0, [inside]

thread P2:
        mov r0, #1
        mov r4, #0
        str r0, [flag2]
check:  ldr r1, [flag1]
        cmp r1, #0
        beq enter
        ldr r2, [turn]
        cmp r2, #1
        bne check
        str r4, [flag2]
wait:   ldr r2, [turn]
        cmp r2, #1
        beq wait
        str r0, [flag2]
        b check
enter:  ldr r3, [inside]
        assert r3 = 0
        str r0, [inside]
