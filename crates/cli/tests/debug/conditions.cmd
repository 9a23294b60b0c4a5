# arguments: --model tso examples/c/atomic-counter-torn.c
# Conditions, displays, calls, variables.
break worker if counter == 1
info break
display counter
display/x counter + 16
continue
backtrace
info locals
print counter == 1 && !(counter > 2)
print -1 < counter
step
info locals
up
info locals
down
frame 9
delete
run
break 12 if old == 1
continue
thread 0
frame 0
info locals
condition 2 old == 99
info break
condition 2
undisplay 2
info display
break worker if nothing == 1
run
continue
undisplay
step
