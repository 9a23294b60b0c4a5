// Two coordinates are written, then the word that they are ready. Under PSO the word may come
// first. After S. Huang and J. Huang, "Maximal causality reduction for TSO and PSO", OOPSLA 2016.
isa sparc
loc [X] = 1, [Y] = 2, [Z] = 0

thread P1:
    mov 1, %g1
    mov 2, %g2
    mov 3, %g3
    st %g0, [Z]
    st %g0, [X]
    st %g0, [Y]
    st %g2, [X]
    st %g3, [Y]
    st %g1, [Z]

thread P2:
    ld [Z], %g1
    assume g1 = 1
    ld [X], %g2
    ld [Y], %g3
    assert g2 = 2 /\ g3 = 3
