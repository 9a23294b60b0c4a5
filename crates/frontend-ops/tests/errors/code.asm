isa arm
loc [x] = 0
 mov r1, #1
thread P1:
 mov r99, #1
 ldr r1, [y]
 mul r1, r2, r3
 b nowhere
 strex r1, r2
 dmb left
 assert q = 1
L: L: nop
