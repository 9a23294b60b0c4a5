# arguments: crates/cli/tests/debug/machine-code.s
# Machine code: registers, flags, the stack; both threads read 0, which is what abort is for.
disassemble
break left
break main+0x35
break machine-code.s:10
continue
info threads
stepi
thread 0
stepi
stepi
thread 1
stepi
view
info registers rax eax
print $ebx
thread 0
info registers
x/2xg $rsp
info buffers
continue
backtrace
continue
info breakpoints
delete
continue
backtrace
