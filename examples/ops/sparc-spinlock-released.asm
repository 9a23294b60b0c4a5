// The spinlock of Linux for SPARC, taken and given back. Branches are delayed: the instruction after them runs first.
isa sparc
loc [L] = 0, [flag] = 0

thread P1:
L1: ldstub [L], %g5
    brnz,pn %g5, L2
    nop
    ba CS
    nop
L2: ldub [L], %g5
    brnz,pt %g5, L2
    nop
    ba,a,pt L1
    nop
CS: ldub [flag], %g1
    assert g1 = 0
    mov 1, %g2
    stb %g2, [flag]
    stb %g0, [flag]
    stbar
    stb %g0, [L]

thread P2:
L1: ldstub [L], %g5
    brnz,pn %g5, L2
    nop
    ba CS
    nop
L2: ldub [L], %g5
    brnz,pt %g5, L2
    nop
    ba,a,pt L1
    nop
CS: ldub [flag], %g1
    assert g1 = 0
    mov 1, %g2
    stb %g2, [flag]
    stb %g0, [flag]
    stbar
    stb %g0, [L]
