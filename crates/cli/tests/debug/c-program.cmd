# arguments: --model tso examples/c/store-buffering.c
# A program in C: functions, lines, variables of its own.
break left
break 19
continue
backtrace
list
step
info buffers
continue
threads
print x
print &x
print/x main::threads
x/2xw &x
memory
finish
delete
continue
