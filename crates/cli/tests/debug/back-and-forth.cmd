# arguments: --model pso crates/cli/tests/debug/two-stores.litmus
# Under pso the younger store may go first. Going back, on, and another way.
list
step 2
info buffers
flush 0 1
thread 1
step
back
back 2
goto 4
what
step
flush 0
schedule
goto 3
reverse-stepi 2
run
watch x
continue
info break
delete 1
set scheduler-locking on
thread 1
continue
