# arguments: --model sc examples/c/two-locks-deadlock.c
# Each thread takes one lock; then there is nothing that can happen.
break transfer
continue
continue
info threads
list transfer
thread 1
next
thread 2
next
what
continue
info threads
