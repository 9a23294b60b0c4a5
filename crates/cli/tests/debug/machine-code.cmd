# arguments: crates/cli/tests/debug/machine-code.s
# Machine code: registers, flags, the stack; both threads read 0.
disassemble
break left
break main+0x18
continue
view
thread 1
stepi
info registers
thread 0
info buffers
continue
backtrace
what
