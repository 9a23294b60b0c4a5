# arguments: --model tso examples/c/treiber-stack-free.c
# Conditions, displays, calls, variables.
break pop if top != 0
info break
display top
continue
backtrace
frame
print top != 0 && !(top == 0)
print -1 < 1 + 2 - 2
up
info locals
backtrace
down
display/x 16 + 1
info display
condition 1 nothing == 1
info break
continue
condition 1
undisplay 2
step
delete
break worker if 1 == 2
run
continue
undisplay
goto 3
