// Message passing where only the writer has a barrier: enough under PSO, but not on ARM, where
// the reader's loads change places.
isa sparc
loc [x] = 0, [y] = 0

thread P1:
    mov 1, %o1
    st %o1, [x]
    stbar
    st %o1, [y]

thread P2:
L:  ld [y], %o1
    brz %o1, L
    nop
    ld [x], %o2
    assert o2 = 1
