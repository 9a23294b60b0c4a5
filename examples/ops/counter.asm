// A counter that goes from 1 to 4, against two readers: each sees no more than that, and they
// never see it go back.
isa arm
loc [X] = 0

thread P1:
    mov r1, #0
L:  add r1, r1, #1
    str r1, [X]
    cmp r1, #4
    bne L

thread P2:
    ldr r1, [X]
    ldr r2, [X]
    assert r1 <= r2 /\ r2 <= 4

thread P3:
    ldr r1, [X]
    assert r1 <= 4
