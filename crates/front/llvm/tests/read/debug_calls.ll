; Debug information in calls, as before LLVM 19.
source_filename = "debug_calls.ll"
define void @f(i32 %x) !dbg !4 {
entry:
  %y = add i32 %x, 1, !dbg !9
  call void @llvm.dbg.value(metadata i32 %y, metadata !7, metadata !DIExpression(DW_OP_plus_uconst, 4)), !dbg !9
  call void @llvm.dbg.value(metadata !DIArgList(i32 %x, i32 %y), metadata !7, metadata !DIExpression()), !dbg !10
  ret void, !dbg !10
}

declare void @llvm.dbg.value(metadata, metadata, metadata)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "p", isOptimized: false, runtimeVersion: 0, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.cl", directory: "/d", checksumkind: CSK_MD5, checksum: "00000000000000000000000000000000")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 7, !"Dwarf Version", i32 5}
!4 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1, type: !5, scopeLine: 1, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(types: !6)
!6 = !{null, !8}
!7 = !DILocalVariable(name: "x", arg: 1, scope: !4, file: !1, line: 1, type: !8)
!8 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!9 = !DILocation(line: 2, column: 3, scope: !4)
!10 = !DILocation(line: 4, scope: !4, inlinedAt: !11)
!11 = distinct !DILocation(line: 5, column: 1, scope: !4)
