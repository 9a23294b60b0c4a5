# arguments: examples/store-buffering.litmus
step many
