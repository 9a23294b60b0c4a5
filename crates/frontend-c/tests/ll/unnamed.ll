; Numbers that are left out: of a parameter, of blocks, of a result.
target datalayout = "e-m:e-i64:64-n8:16:32:64-S128"

@g = global { i32, [2 x i16] } { i32 1, [2 x i16] [i16 2, i16 -3] }
@p = global ptr getelementptr inbounds (i8, ptr @g, i64 4)

define i32 @f(i32) {
  add i32 %0, 1
  %3 = icmp sgt i32 %2, 5
  br i1 %3, label %4, label %5

4:
  ret i32 7

  %6 = phi i32 [ %2, %1 ]
  ret i32 %6
}

define i32 @main() {
entry:
  %a = call i32 @f(i32 3)
  %b = call i32 @f(i32 9)
  %c = load ptr, ptr @p
  %d = load i16, ptr %c
  %e = sext i16 %d to i32
  %s = mul i32 %a, 100
  %t = mul i32 %b, 10
  %u = add i32 %s, %t
  %v = add i32 %u, %e
  ret i32 %v
}
