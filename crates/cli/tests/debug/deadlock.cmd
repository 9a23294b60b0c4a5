# arguments: --model sc examples/c/two-locks-deadlock.c
# Each thread takes one lock; then there is nothing that can happen.
set scheduler-locking on
break back
continue
thread 1
step
next
thread 2
step
next
info threads
what
thread 0
continue
set scheduler-locking off
continue
