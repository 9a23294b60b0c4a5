// A word is sent with lwsync, and taken by load-and-reserve: right on Power.
isa power
loc [data] = 0, [flag] = 0

thread P1:
    li r1, 1
    stw r1, (data)
    lwsync
    stw r1, (flag)

thread P2:
L:  lwarx r2, 0, (flag)
    cmpwi r2, 1
    bne L
    li r3, 2
    stwcx. r3, 0, (flag)
    bne L
    isync
    lwz r4, (data)
    assert r4 = 1
