# arguments: examples/store-buffering.litmus
stpe
