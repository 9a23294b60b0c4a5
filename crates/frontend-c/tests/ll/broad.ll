; Made by clang 19 and the pass that C programs go through.
source_filename = "broad.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.item = type { i8, i8, %union.anon, %struct.anon }
%union.anon = type { double }
%struct.anon = type { [3 x i16] }

@mine = dso_local thread_local global i32 3, align 4
@.str = private unnamed_addr constant [4 x i8] c"a\0A\22\00", align 1
@text = dso_local global ptr @.str, align 8
@wide = dso_local global i128 -5, align 16
@hook = internal global ptr null, align 8
@items = dso_local global [4 x %struct.item] zeroinitializer, align 16
@elsewhere = external global i32, align 4
@word = dso_local global i32 0, align 4
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @first, ptr null }]

define internal void @first() {
  %1 = call align 4 ptr @llvm.threadlocal.address.p0(ptr align 4 @mine)
  %2 = load i32, ptr %1, align 4, !tbaa !5
  %3 = add nsw i32 %2, 1
  store i32 %3, ptr %1, align 4, !tbaa !5
  ret void
}

declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull)

define dso_local void @pass(ptr dead_on_unwind noalias writable sret(%struct.item) align 8 %0, ptr noundef byval(%struct.item) align 8 %1, float noundef %2, <4 x i32> noundef %3) {
  %5 = fptosi float %2 to i32
  %6 = extractelement <4 x i32> %3, i32 2
  %7 = add nsw i32 %5, %6
  %8 = getelementptr inbounds %struct.item, ptr %1, i32 0, i32 1
  %9 = trunc i32 %7 to i8
  %10 = load i8, ptr %8, align 1
  %11 = and i8 %9, 127
  %12 = and i8 %10, -128
  %13 = or i8 %12, %11
  store i8 %13, ptr %8, align 1
  %14 = shl i8 %11, 1
  %15 = ashr i8 %14, 1
  %16 = sext i8 %15 to i32
  %17 = fpext float %2 to double
  %18 = fmul double %17, 2.500000e+00
  %19 = getelementptr inbounds %struct.item, ptr %1, i32 0, i32 2
  store double %18, ptr %19, align 8, !tbaa !9
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %0, ptr align 8 %1, i64 24, i1 false), !tbaa.struct !10
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg)

define dso_local i32 @sizes(i32 noundef %0) {
  %2 = zext i32 %0 to i64
  %3 = call ptr @llvm.stacksave.p0()
  %4 = alloca i8, i64 %2, align 16
  %5 = sext i32 %0 to i64
  call void @llvm.memset.p0.i64(ptr align 16 %4, i8 1, i64 %5, i1 false)
  %6 = sub nsw i32 %0, 1
  %7 = sext i32 %6 to i64
  %8 = getelementptr inbounds i8, ptr %4, i64 %7
  %9 = load i8, ptr %8, align 1, !tbaa !9
  %10 = sext i8 %9 to i32
  call void @llvm.stackrestore.p0(ptr %3)
  ret i32 %10
}

declare ptr @llvm.stacksave.p0()

declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg)

declare void @llvm.stackrestore.p0(ptr)

define dso_local i32 @main(i32 noundef %0, ptr noundef %1) {
  %3 = alloca %struct.item, align 8
  %4 = icmp sgt i32 %0, 1
  %5 = zext i1 %4 to i64
  %6 = select i1 %4, ptr @step, ptr null
  store ptr %6, ptr @hook, align 8, !tbaa !11
  call void @llvm.lifetime.start.p0(i64 24, ptr %3)
  %7 = add <4 x i32> <i32 1, i32 2, i32 3, i32 4>, <i32 1, i32 2, i32 3, i32 4>
  call void @pass(ptr dead_on_unwind writable sret(%struct.item) align 8 %3, ptr noundef byval(%struct.item) align 8 @items, float noundef 1.500000e+00, <4 x i32> noundef %7)
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 getelementptr inbounds ([4 x %struct.item], ptr @items, i64 0, i64 1), ptr align 8 %3, i64 24, i1 false), !tbaa.struct !10
  call void @llvm.lifetime.end.p0(i64 24, ptr %3)
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 getelementptr inbounds ([4 x %struct.item], ptr @items, i64 0, i64 2), ptr align 8 getelementptr inbounds ([4 x %struct.item], ptr @items, i64 0, i64 1), i64 24, i1 false), !tbaa.struct !10
  switch i32 %0, label %12 [
    i32 1, label %8
    i32 5, label %10
    i32 6, label %10
    i32 7, label %10
  ]

8:
  %9 = call i32 @step(i32 noundef %0)
  br label %14

10:
  %11 = call i32 (ptr, ...) @outside(ptr noundef @items, i32 noundef 2, double noundef 2.500000e+00)
  br label %14

12:
  %13 = load i32, ptr @elsewhere, align 4, !tbaa !5
  br label %14

14:
  %.019 = phi i32 [ %13, %12 ], [ %11, %10 ], [ %9, %8 ]
  %15 = call { i32, i1 } @llvm.smul.with.overflow.i32(i32 %.019, i32 %0)
  %16 = extractvalue { i32, i1 } %15, 1
  %17 = extractvalue { i32, i1 } %15, 0
  br i1 %16, label %18, label %19

18:
  call void @llvm.trap()
  br label %19

19:
  %20 = call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %17, i32 1)
  %21 = extractvalue { i32, i1 } %20, 1
  %22 = extractvalue { i32, i1 } %20, 0
  br i1 %21, label %23, label %24

23:
  unreachable

24:
  %25 = cmpxchg weak ptr @word, i32 2, i32 5 acq_rel monotonic, align 4
  %26 = extractvalue { i32, i1 } %25, 0
  %27 = extractvalue { i32, i1 } %25, 1
  br i1 %27, label %29, label %28

28:
  br label %29

29:
  %30 = zext i1 %27 to i8
  %31 = trunc i8 %30 to i1
  %32 = atomicrmw xor ptr @word, i32 3 seq_cst, align 4
  %33 = xor i32 %32, 3
  fence seq_cst
  call void asm sideeffect "mfence", "~{memory},~{dirflag},~{fpsr},~{flags}"() #9, !srcloc !13
  br label %34

34:
  %.1 = phi i32 [ %22, %29 ], [ %58, %59 ]
  %.0 = phi i32 [ 0, %29 ], [ %60, %59 ]
  %35 = icmp slt i32 %.0, 4
  br i1 %35, label %37, label %36

36:
  br label %61

37:
  %38 = sext i32 %.0 to i64
  %39 = getelementptr inbounds [4 x %struct.item], ptr @items, i64 0, i64 %38
  %40 = getelementptr inbounds %struct.item, ptr %39, i32 0, i32 1
  %41 = load i8, ptr %40, align 1
  %42 = shl i8 %41, 1
  %43 = ashr i8 %42, 1
  %44 = sext i8 %43 to i32
  %45 = call align 4 ptr @llvm.threadlocal.address.p0(ptr align 4 @mine)
  %46 = load i32, ptr %45, align 4, !tbaa !5
  %47 = add nsw i32 %44, %46
  %48 = add nsw i32 %.0, 1
  %49 = call i32 @sizes(i32 noundef %48)
  %50 = add nsw i32 %47, %49
  %51 = call i32 @llvm.ctpop.i32(i32 %.0)
  %52 = add nsw i32 %50, %51
  %53 = load i128, ptr @wide, align 16, !tbaa !14
  %54 = zext i32 %.0 to i128
  %55 = ashr i128 %53, %54
  %56 = trunc i128 %55 to i32
  %57 = add nsw i32 %52, %56
  %58 = add nsw i32 %.1, %57
  br label %59

59:
  %60 = add nsw i32 %.0, 1
  br label %34

61:
  %62 = load ptr, ptr @hook, align 8, !tbaa !11
  %63 = icmp ne ptr %62, null
  br i1 %63, label %64, label %67

64:
  %65 = load ptr, ptr @hook, align 8, !tbaa !11
  %66 = call i32 %65(i32 noundef 2)
  br label %68

67:
  br label %68

68:
  %69 = phi i32 [ %66, %64 ], [ 0, %67 ]
  %70 = add nsw i32 %.1, %69
  %71 = load ptr, ptr @text, align 8, !tbaa !11
  %72 = getelementptr inbounds i8, ptr %71, i64 0
  %73 = load i8, ptr %72, align 1, !tbaa !9
  %74 = sext i8 %73 to i32
  %75 = add nsw i32 %70, %74
  ret i32 %75
}

define internal i32 @step(i32 noundef %0) {
  %2 = sub nsw i32 %0, 3
  %3 = sdiv i32 %0, %2
  %4 = ashr i32 %0, 2
  %5 = add nsw i32 %3, %4
  ret i32 %5
}

declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture)

declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture)

declare i32 @outside(ptr noundef, ...)

declare { i32, i1 } @llvm.smul.with.overflow.i32(i32, i32)

declare void @llvm.trap()

declare { i32, i1 } @llvm.sadd.with.overflow.i32(i32, i32)

declare i32 @llvm.ctpop.i32(i32)


!llvm.module.flags = !{!0, !1, !2, !3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = !{i32 7, !"PIE Level", i32 2}
!3 = !{i32 7, !"uwtable", i32 2}
!5 = !{!6, !6, i64 0}
!6 = !{!"int", !7, i64 0}
!7 = !{!"omnipotent char", !8, i64 0}
!8 = !{!"Simple C/C++ TBAA"}
!9 = !{!7, !7, i64 0}
!10 = !{i64 0, i64 1, !9, i64 1, i64 1, !9, i64 8, i64 8, !9, i64 16, i64 6, !9}
!11 = !{!12, !12, i64 0}
!12 = !{!"any pointer", !7, i64 0}
!13 = !{i64 1208}
!14 = !{!15, !15, i64 0}
!15 = !{!"__int128", !7, i64 0}
!16 = distinct !{!16, !17, !18}
!17 = !{!"llvm.loop.mustprogress"}
!18 = !{!"llvm.loop.unroll.disable"}
