; As LLVM wrote modules up to version 14.
source_filename = "old.c"
target datalayout = "e-m:e-p270:32:32-i64:64-f80:128-n8:16:32:64-S128"

%struct.s = type { i32, %struct.s* }
@x = dso_local global %struct.s { i32 4, %struct.s* @x }, align 8
@f = dso_local global i32 (i32)* @twice, align 8

define dso_local i32 @twice(i32 noundef %0) #0 {
  %2 = mul nsw i32 %0, 2
  ret i32 %2
}

define dso_local i32 @main() #0 !dbg !5 {
  %1 = load %struct.s*, %struct.s** getelementptr inbounds (%struct.s, %struct.s* @x, i32 0, i32 1), align 8
  %2 = getelementptr inbounds %struct.s, %struct.s* %1, i32 0, i32 0
  %3 = load i32, i32* %2, align 8, !dbg !7
  call void @llvm.dbg.value(metadata i32 %3, metadata !6, metadata !DIExpression()), !dbg !7
  %4 = load i32 (i32)*, i32 (i32)** @f, align 8
  %5 = call i32 %4(i32 noundef %3)
  ret i32 %5
}

declare void @llvm.dbg.value(metadata, metadata, metadata) #1

attributes #0 = { noinline "frame-pointer"="all" }
attributes #1 = { nofree }

!llvm.module.flags = !{!0}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !DIFile(filename: "old.c", directory: "/nowhere")
!5 = distinct !DISubprogram(name: "main", scope: !1, file: !1, line: 3, flags: DIFlagPrototyped | DIFlagArtificial)
!6 = !DILocalVariable(name: "v", scope: !5, file: !1, line: 4)
!7 = !DILocation(line: 5, column: 12, scope: !5)
