isa sparc
loc [x] = 0
thread P1:
L: brz %g1, L
M: nop
 ba M
 ba L
 membar #Everything
 ba,q L
 brz %g1, L
