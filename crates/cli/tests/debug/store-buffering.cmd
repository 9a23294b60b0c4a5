# arguments: examples/store-buffering.litmus
# The classic: both threads read 0 while the stores are still in the buffers.
info threads
what
step
print x
thread 1
step
info buffers
step
thread 0
s
info registers
view
memory
flush
flush 1
schedule
