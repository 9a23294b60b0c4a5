// A loop without end. No execution is complete, so assertions say nothing.
isa arm
loc [X] = 0

thread P1:
L:  ldr r1, [X]
    b L
    assert r1 = 1
