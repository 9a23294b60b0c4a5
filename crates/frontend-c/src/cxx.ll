; Objects that the run-time library of C++ has (libstdc++), and a function of which the address is taken.

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

; glibc says here that there is one thread so far. Counts of references are then not atomic, which makes no
; difference to one thread.
@__libc_single_threaded = weak global i8 0, align 1

; What says to destructors which library they belong to.
@__dso_handle = weak global i8 0, align 1

; What std::call_once hands to the function that runs.
@_ZSt15__once_callable = weak thread_local global ptr null, align 8
@_ZSt11__once_call = weak thread_local global ptr null, align 8

define weak void @__once_proxy() {
  %address = call ptr @llvm.threadlocal.address.p0(ptr @_ZSt11__once_call)
  %function = load ptr, ptr %address, align 8
  call void %function()
  ret void
}

declare ptr @llvm.threadlocal.address.p0(ptr)
