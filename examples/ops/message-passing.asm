// Message passing. The reader waits for the flag and finds the data, unless the stores, or its
// own loads, change places: right under SC and TSO, wrong under PSO and on ARM.
isa arm
loc [x] = 0, [y] = 0

thread P1:
    mov r1, #1
    str r1, [x]
    str r1, [y]

thread P2:
L:  ldr r1, [y]
    cmp r1, #1
    bne L
    ldr r2, [x]
    assert r2 = 1
